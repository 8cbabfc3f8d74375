"""Handle a command line that the daemon did not answer: run it in this process, or start the daemon and retry."""

import asyncio
import os
from contextlib import aclosing
from typing import Any, NoReturn, cast

from msgspec import convert

from termvisor.client.daemon_process import ensure_running
from termvisor.clock import SystemClock
from termvisor.errors import Unavailable, VisorError
from termvisor.frontends.cli import fast_client
from termvisor.ops.api.dispatch import CHUNK_KINDS, CommandContext, dispatch_command_line, find_operation
from termvisor.ops.api.services import LocalServices, Services
from termvisor.protocol import command_protocol
from termvisor.settings import resolve_paths
from termvisor.system.process_origin import ORIGIN_VARIABLES, find_doubt, read_origin


def run_without_daemon(request: command_protocol.CommandRequest, reason: int) -> int:
    """Run the request locally or through a new daemon; ``reason`` is the negative result of `send_command`."""
    if reason == fast_client.RUN_LOCALLY or (reason == fast_client.NO_DAEMON and not _needs_daemon(request)):
        return _run_locally(LocalServices(), request)
    try:
        # The command may have been executed, so do not send it again.
        if reason == fast_client.CONNECTION_LOST:
            raise Unavailable("the daemon did not finish its answer", hint="Retry; `visor daemon restart` may help.")
        return _start_daemon_and_send(request)
    except VisorError as error:
        return _run_locally(cast(Services, _UnreachableServices(error)), request)


def _needs_daemon(request: command_protocol.CommandRequest) -> bool:
    try:
        operation, words = find_operation(request.argv, request.is_robot)
    # An unknown command can be reported without a daemon.
    except VisorError:
        return False
    # What a program changes passes the gate. A person may need to repair settings with which no daemon starts.
    if operation.is_local(words) and operation.list_changes and (request.is_robot or not _is_run_by_person()):
        return True
    return not (operation.is_local(words) or operation.works_without_daemon)


def _is_run_by_person() -> bool:
    # Without a daemon no agents are known; what the process itself shows is judged as the daemon does.
    origin = read_origin(os.getpid(), ORIGIN_VARIABLES)
    return origin is not None and find_doubt(origin, (), uid=os.getuid()) is None


def _start_daemon_and_send(request: command_protocol.CommandRequest) -> int:
    paths = resolve_paths()
    ensure_running(paths)
    status = fast_client.send_command(paths.daemon_socket, request)
    # The new daemon has allowed a change that this process makes.
    if status == fast_client.RUN_LOCALLY:
        return _run_locally(LocalServices(), request)
    if status < 0:
        raise Unavailable("the daemon exited right after its start", hint=f"See {paths.log_file}.")
    return status


def _run_locally(services: Services, request: command_protocol.CommandRequest) -> int:
    output = fast_client.OutputRouter(request)
    status = asyncio.run(_dispatch(services, request, output))
    retry = output.build_retry(lambda _aside: None)
    if retry is None:
        return status
    # What was only shown before is a change now, so the daemon is asked about it like about any other command.
    answered = fast_client.send_command(resolve_paths().daemon_socket, retry)
    return answered if answered >= 0 else run_without_daemon(retry, answered)


async def _dispatch(
    services: Services, request: command_protocol.CommandRequest, output: fast_client.OutputRouter
) -> int:
    async with aclosing(dispatch_command_line(services, convert(request.to_fields(), CommandContext))) as answer_parts:
        async for answer_part in answer_parts:
            if isinstance(answer_part, int):
                return answer_part
            output.deliver(CHUNK_KINDS.get(type(answer_part), b"o"), answer_part)
    raise AssertionError("an answer ends with its exit status")


class _UnreachableServices:
    """Services that raise the connection error on any use, so that it is rendered like any other error."""

    def __init__(self, error: VisorError):
        self._error = error
        self.clock = SystemClock()

    def __getattr__(self, name: str) -> Any:
        self._raise_error()

    def _raise_error(self) -> NoReturn:
        raise self._error

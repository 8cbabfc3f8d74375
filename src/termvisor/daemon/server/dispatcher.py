"""Dispatch client requests to operations. Command lines are answered with byte frames, JSON-RPC calls with data."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from msgspec import convert

from termvisor import __version__
from termvisor.daemon.services.services import DaemonServices
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor
from termvisor.ops.api import dispatch
from termvisor.ops.api.catalog import STREAM_OPERATIONS
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import PeerProcess

log = get_logger("daemon.requests")


class OperationDispatcher:
    def __init__(self, services: DaemonServices, stop: Callable[[], None]):
        self._services, self._request_stop = services, stop
        self._hello = jsonrpc.DaemonHello(
            __version__, command_protocol.PROTOCOL_VERSION, os.getpid(), STREAM_OPERATIONS
        )

    def get_hello(self) -> jsonrpc.DaemonHello:
        return self._hello

    async def run_command(
        self, request: command_protocol.CommandRequest, peer: PeerProcess
    ) -> AsyncGenerator[bytes, None]:
        # The client sends command lines unparsed; this frame makes it run the command itself.
        if _needs_no_daemon(request):
            yield command_protocol.encode_frame(b"l", 0)
            return
        services = self._services.bind_caller(_identify_actor(request, peer))
        context = convert(request.to_fields(), dispatch.CommandContext)
        async with aclosing(dispatch.dispatch_command_line(services, context)) as answer_parts:
            async for answer_part in answer_parts:
                yield encode_frame(answer_part)

    async def call_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> Any:
        return await dispatch.call_operation(self._services.bind_caller(_build_robot_actor(peer)), name, params)

    async def stream_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> AsyncGenerator[Any, None]:
        async for item in dispatch.stream_operation(self._services.bind_caller(_build_robot_actor(peer)), name, params):
            yield item

    async def reload(self) -> None:
        try:
            result = await self._services.maintenance.reload_settings()
        except VisorError as error:
            log.error("the settings were not reloaded: %s", error)
        else:
            applied, needs_restart = ", ".join(result.applied), ", ".join(result.needs_restart)
            log.info("settings reloaded: %s; need a restart: %s", applied or "none", needs_restart or "none")
            if result.rules.count is not None:
                log.info("rules reloaded: %d are active", result.rules.count)

    def stop(self, *, keep_recorder: bool) -> None:
        self._services.keeps_recorder = keep_recorder
        self._request_stop()


def encode_frame(answer_part: bytes | int) -> bytes:
    if isinstance(answer_part, int):
        return command_protocol.encode_frame(b"x", answer_part)
    return command_protocol.encode_output(dispatch.CHUNK_KINDS.get(type(answer_part), b"o"), answer_part)


def _identify_actor(request: command_protocol.CommandRequest, peer: PeerProcess) -> Actor:
    """Return a human actor for a command line typed at a terminal, else a robot."""
    is_human = request.terminal.is_terminal and not request.is_robot
    return Actor(kind="human" if is_human else "robot", uid=peer.uid, pid=peer.pid)


def _build_robot_actor(peer: PeerProcess) -> Actor:
    return Actor(kind="robot", uid=peer.uid, pid=peer.pid)


def _needs_no_daemon(request: command_protocol.CommandRequest) -> bool:
    try:
        operation, words = dispatch.find_operation(request.argv, request.is_robot)
    except VisorError:
        # The error is reported when the command line is dispatched.
        return False
    return operation.is_local(words)

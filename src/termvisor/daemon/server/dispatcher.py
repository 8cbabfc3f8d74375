"""Where requests meet the operations: a command line or a call goes to `ops`, bytes or data come back."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from msgspec import convert

from termvisor import __version__
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.action.action import Actor
from termvisor.ops.api import dispatch
from termvisor.ops.api.catalog import STREAM_OPERATIONS
from termvisor.ops.api.services import Services
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.system.peer_credentials import PeerProcess

log = get_logger("daemon.desk")


class DispatcherServices(Services, Protocol):
    keeps_recorder: bool
    """Whether the recorder goes on when this world ends, for a daemon that comes after."""

    def bind_caller(self, actor: Actor) -> Services:
        """This world as one caller may use it."""


class OperationDispatcher:
    def __init__(self, services: DispatcherServices, stop: Callable[[], None]):
        self._services, self._request_stop = services, stop
        self._hello = jsonrpc.DaemonHello(
            __version__, command_protocol.PROTOCOL_VERSION, os.getpid(), STREAM_OPERATIONS
        )

    def get_hello(self) -> jsonrpc.DaemonHello:
        return self._hello

    async def run_command(
        self, request: command_protocol.CommandRequest, peer: PeerProcess
    ) -> AsyncGenerator[bytes, None]:
        if _needs_no_daemon(request):
            yield command_protocol.encode_frame(b"l", 0)
            return
        world = self._services.bind_caller(_identify_actor(request, peer))
        async with aclosing(
            dispatch.dispatch_command_line(world, convert(request.to_fields(), dispatch.CommandContext))
        ) as pieces:
            async for piece in pieces:
                yield encode_frame(piece)

    async def call_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> Any:
        return await dispatch.call_operation(self._services.bind_caller(_build_robot_actor(peer)), name, params)

    async def stream_operation(self, name: str, params: dict[str, Any], peer: PeerProcess) -> AsyncGenerator[Any, None]:
        async for item in dispatch.stream_operation(self._services.bind_caller(_build_robot_actor(peer)), name, params):
            yield item

    async def reload(self) -> None:
        try:
            told = await self._services.maintenance.reload_settings()
        except VisorError as error:
            log.error("the settings were not taken over: %s", error)
        else:
            log.info(
                "settings taken over: %s; need a restart: %s",
                _join_names(told.applied),
                _join_names(told.needs_restart),
            )
            if told.rules.count is not None:
                log.info("rules taken up: %d are in force", told.rules.count)

    def stop(self, *, keep_recorder: bool) -> None:
        self._services.keeps_recorder = keep_recorder
        self._request_stop()


def encode_frame(answer_part: bytes | int) -> bytes:
    if isinstance(answer_part, int):
        return command_protocol.encode_frame(b"x", answer_part)
    return command_protocol.encode_output(dispatch.CHUNK_KINDS.get(type(answer_part), b"o"), answer_part)


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _identify_actor(request: command_protocol.CommandRequest, peer: PeerProcess) -> Actor:
    """A person sits at a terminal; everything else is a program."""
    is_person = request.terminal.is_terminal and not request.is_robot
    return Actor(kind="human" if is_person else "robot", uid=peer.uid, pid=peer.pid)


def _build_robot_actor(peer: PeerProcess) -> Actor:
    return Actor(kind="robot", uid=peer.uid, pid=peer.pid)


def _needs_no_daemon(request: command_protocol.CommandRequest) -> bool:
    try:
        op, words = dispatch.find_operation(request.argv, request.is_robot)
    except VisorError:
        return False
    return op.is_local(words)

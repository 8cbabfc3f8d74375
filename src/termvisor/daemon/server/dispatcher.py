"""Where requests meet the operations: a command line or a call goes to `ops`, bytes or data come back."""

import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Protocol

from msgspec import convert

from termvisor import __version__
from termvisor.errors import VisorError
from termvisor.log import logger
from termvisor.model.action.action import Actor
from termvisor.ops.api import dispatch as ops
from termvisor.ops.api.catalog import STREAMS
from termvisor.ops.api.services import World
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc
from termvisor.system.peer_credentials import Peer

log = logger("daemon.desk")


class DaemonWorld(World, Protocol):
    keeps_recorder: bool
    """Whether the recorder goes on when this world ends, for a daemon that comes after."""

    def called_by(self, actor: Actor) -> World:
        """This world as one caller may use it."""


class OpsDesk:
    def __init__(self, world: DaemonWorld, stop: Callable[[], None]):
        self._world, self._stop = world, stop
        self._hello = rpc.Hello(__version__, face.PROTOCOL, os.getpid(), STREAMS)

    def hello(self) -> rpc.Hello:
        return self._hello

    async def answer(self, asked: face.Asked, who: Peer) -> AsyncGenerator[bytes, None]:
        if _needs_no_daemon(asked):
            yield face.frame(b"l", 0)
            return
        world = self._world.called_by(_actor(asked, who))
        async with aclosing(ops.answer(world, convert(asked.fields(), ops.Caller))) as pieces:
            async for piece in pieces:
                yield framed(piece)

    async def call(self, name: str, params: dict[str, Any], who: Peer) -> Any:
        return await ops.call(self._world.called_by(_program(who)), name, params)

    async def stream(self, name: str, params: dict[str, Any], who: Peer) -> AsyncGenerator[Any, None]:
        async for item in ops.stream(self._world.called_by(_program(who)), name, params):
            yield item

    async def reload(self) -> None:
        try:
            told = await self._world.upkeep.reload()
        except VisorError as error:
            log.error("the settings were not taken over: %s", error)
        else:
            log.info("settings taken over: %s; need a restart: %s", _list(told.applied), _list(told.needs_restart))
            if told.rules.count is not None:
                log.info("rules taken up: %d are in force", told.rules.count)

    def stop(self, *, keep_recorder: bool) -> None:
        self._world.keeps_recorder = keep_recorder
        self._stop()


def framed(piece: bytes | int) -> bytes:
    if isinstance(piece, int):
        return face.frame(b"x", piece)
    return face.output(ops.KINDS.get(type(piece), b"o"), piece)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _actor(asked: face.Asked, who: Peer) -> Actor:
    """A person sits at a terminal; everything else is a program."""
    is_person = asked.look.is_terminal and not asked.is_robot
    return Actor(kind="human" if is_person else "robot", uid=who.uid, pid=who.pid)


def _program(who: Peer) -> Actor:
    return Actor(kind="robot", uid=who.uid, pid=who.pid)


def _needs_no_daemon(asked: face.Asked) -> bool:
    try:
        op, words = ops.find(asked.argv, asked.is_robot)
    except VisorError:
        return False
    return op.is_local(words)

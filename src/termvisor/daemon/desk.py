"""Where requests meet the operations: a command line or a call goes to `ops`, bytes or data come back."""

import os
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, Protocol

from msgspec import convert

from termvisor import __version__
from termvisor.errors import VisorError
from termvisor.ops import answer as ops
from termvisor.ops.catalogue import every
from termvisor.ops.world import World
from termvisor.wire import face, rpc


class DaemonWorld(World, Protocol):
    keeps_recorder: bool
    """Whether the recorder goes on when this world ends, for a daemon that comes after."""


class OpsDesk:
    def __init__(self, world: DaemonWorld, stop: Callable[[], None]):
        self._world, self._stop = world, stop
        streams = tuple(op.name for op in every() if op.is_stream)
        self._hello = rpc.Hello(__version__, face.PROTOCOL, os.getpid(), streams)

    def hello(self) -> rpc.Hello:
        return self._hello

    async def answer(self, asked: face.Asked) -> AsyncGenerator[bytes, None]:
        if _needs_no_daemon(asked):
            yield face.frame(b"l", 0)
            return
        async with aclosing(ops.answer(self._world, convert(asked.fields(), ops.Caller))) as pieces:
            async for piece in pieces:
                yield framed(piece)

    async def call(self, name: str, params: dict[str, Any]) -> Any:
        return await ops.call(self._world, name, params)

    async def stream(self, name: str, params: dict[str, Any]) -> AsyncGenerator[Any, None]:
        async for item in ops.stream(self._world, name, params):
            yield item

    def stop(self, *, keep_recorder: bool) -> None:
        self._world.keeps_recorder = keep_recorder
        self._stop()


def framed(piece: bytes | int) -> bytes:
    if isinstance(piece, int):
        return face.frame(b"x", piece)
    kind = b"f" if isinstance(piece, ops.ToFile) else b"e" if isinstance(piece, ops.Stderr) else b"o"
    return face.output(kind, piece)


def _needs_no_daemon(asked: face.Asked) -> bool:
    try:
        op, _ = ops.find(asked.argv, asked.is_robot)
    except VisorError:
        return False
    return op.effect == "local"

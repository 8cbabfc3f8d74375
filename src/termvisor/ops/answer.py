"""From a command line or a JSON-RPC call to an answer: the seam between the ops and every face.

Invariant: `answer` never raises. Whatever goes wrong becomes an envelope for machines or `visor: <message>` for
people, and an exit status.
"""

import os
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import Any, cast

from msgspec import Struct

from termvisor.errors import BadRequest, Unconfirmed, VisorError
from termvisor.ops import catalogue, envelope
from termvisor.ops.arguments import convert, located, parse
from termvisor.ops.base import Op
from termvisor.ops.catalogue import find
from termvisor.ops.help import of
from termvisor.ops.look import Look, clean, difference
from termvisor.ops.options import Options, split
from termvisor.ops.world import World

_CHUNK = 64 << 10

__all__ = ["Caller", "Shown", "Stderr", "ToFile", "answer", "call", "find", "stream"]


class Caller(Struct, frozen=True, kw_only=True):
    """Who asks, and what their side looks like. ``argv`` is what stands after `visor`, or after `visor robot`."""

    argv: tuple[str, ...]
    is_robot: bool
    width: int = 80
    is_terminal: bool = False
    colour: bool = False
    cwd: str = "/"


class Stderr(bytes):
    """A piece of the answer that belongs on the caller's stderr."""


class Shown(bytes):
    """What a person should see before they confirm. The refusal for callers that nobody can ask follows."""


class ToFile(bytes):
    """The path of a file on the caller's side that takes what follows instead of stdout."""


async def answer(world: World, caller: Caller) -> AsyncGenerator[bytes | int, None]:
    """What to write, piece by piece, and last the exit status."""
    reply = _Reply(world, caller)
    try:
        async with aclosing(reply.pieces()) as pieces:
            async for piece in pieces:
                yield piece
    except Exception as error:
        for piece in reply.failed(envelope.told(error)):
            yield piece


class _Reply:
    """One answer in the making."""

    def __init__(self, world: World, caller: Caller):
        self._world, self._caller = world, caller
        self._started = world.clock.monotonic()
        self._options = Options()

    async def pieces(self) -> AsyncGenerator[bytes | int, None]:
        self._options, words = split(self._caller.argv)
        if self._options.wants_help:
            yield self._whole(catalogue.op("help"), await self._help(words), None)
            yield 0
            return
        op, words = find(words, self._caller.is_robot)
        wanted = located(parse(op.Input, words), self._caller.cwd)
        if op.streams(wanted):
            file = None if op.makes_file(wanted) else getattr(wanted, "output", None)
            async with aclosing(self._redirected(self._stream(op, wanted), file)) as chunks:
                async for chunk in chunks:
                    yield chunk
            yield 0
        else:
            result = await _result(op, self._world, wanted)
            yield self._whole(op, result, wanted)
            yield op.exit_status(result)

    def failed(self, error: VisorError) -> tuple[bytes | int, ...]:
        if self._is_json:
            told = envelope.failure(error, self._world.clock, self._started)
            return envelope.encode(told), error.exit_status
        hint = "" if self._options.is_quiet else f"hint: {clean(error.hint)}\n"
        refusal = f"visor: {clean(error.message)}\n{hint}".encode()
        if not (isinstance(error, Unconfirmed) or "shown" in error.details):
            return Stderr(refusal), error.exit_status
        seen = _written(difference(str(error.details.get("shown", "")), self._look(None)))
        question = Shown(seen + _written(clean(error.message)))
        return question, Stderr(refusal if self._options.is_quiet else seen + refusal), error.exit_status

    @property
    def _is_json(self) -> bool:
        return self._options.form(is_robot=self._caller.is_robot) == "json"

    async def _help(self, words: list[str]) -> Struct:
        if words:
            return of(find(words, self._caller.is_robot)[0])
        return await call(self._world, "help", {})

    def _whole(self, op: Op, result: Struct, wanted: Struct | None) -> bytes:
        if self._is_json:
            return envelope.encode(envelope.success(result, self._world.clock, self._started))
        return _written(op.plain(result, self._look(wanted)))

    async def _stream(self, op: Op, wanted: Struct) -> AsyncGenerator[bytes, None]:
        """Items as they come; those of a stream that is not live travel together."""
        held, look = bytearray(), self._look(wanted)
        async with aclosing(_items(op, self._world, wanted)) as items:
            async for item in items:
                held += envelope.encode(item) if self._is_json else _written(op.plain(item, look))
                if op.is_live or len(held) > _CHUNK:
                    yield bytes(held)
                    held.clear()
        if held:
            yield bytes(held)

    async def _redirected(self, chunks: AsyncGenerator[bytes, None], file: str | None) -> AsyncGenerator[bytes, None]:
        """The caller's file is named only once there is something to write, or nothing went wrong."""
        target = ToFile(os.fsencode(file)) if file else None
        async for chunk in chunks:
            if target:
                yield target
                target = None
            yield chunk
        if target:
            yield target

    def _look(self, wanted: Struct | None) -> Look:
        caller = self._caller
        is_terminal = caller.is_terminal and getattr(wanted, "output", None) is None
        return Look(
            width=caller.width if is_terminal else 0,
            colour=caller.colour,
            now=self._world.clock.now(),
            form=self._options.form(is_robot=caller.is_robot),
            is_terminal=is_terminal,
            is_quiet=self._options.is_quiet,
        )


def _written(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    return f"{text}\n".encode("utf-8", "replace") if text else b""


async def call(world: World, name: str, params: dict[str, Any]) -> Struct:
    """One op, by any of its names, with its Input as plain values."""
    op = catalogue.named(name)
    wanted = convert(op.Input, params)
    if op.streams(wanted):
        raise BadRequest(f"{op.name} is a stream", hint="Ask for it as a stream.")
    return await _result(op, world, wanted)


async def stream(world: World, name: str, params: dict[str, Any]) -> AsyncGenerator[Struct, None]:
    """The items of a stream; an op that is none gives its one answer."""
    op = catalogue.named(name)
    wanted = convert(op.Input, params)
    if not op.streams(wanted):
        yield await _result(op, world, wanted)
        return
    async with aclosing(_items(op, world, wanted)) as items:
        async for item in items:
            yield item


async def _result(op: Op, world: World, wanted: Struct) -> Struct:
    return cast(Struct, await cast(Awaitable[Any], op.run(world, wanted)))


def _items(op: Op, world: World, wanted: Struct) -> AsyncGenerator[Struct, None]:
    return cast(AsyncGenerator[Struct, None], (op.follow or op.run)(world, wanted))

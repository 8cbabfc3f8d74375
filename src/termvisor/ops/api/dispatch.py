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
from termvisor.ops.api import catalog as catalogue
from termvisor.ops.api import envelope
from termvisor.ops.api import text_input as given
from termvisor.ops.api.arguments import convert, located, parse
from termvisor.ops.api.catalog import find
from termvisor.ops.api.global_options import Options, split
from termvisor.ops.api.operation import Op
from termvisor.ops.api.services import World
from termvisor.ops.render.text import Look, clean, difference
from termvisor.ops.system.help import of

_CHUNK = 64 << 10

__all__ = ["KINDS", "Caller", "Stderr", "ToFile", "answer", "call", "find", "stream"]


class Caller(Struct, frozen=True, kw_only=True):
    """Who asks, and what their side looks like. ``argv`` is what stands after `visor`, or after `visor robot`."""

    argv: tuple[str, ...]
    is_robot: bool
    width: int = 80
    is_terminal: bool = False
    colour: bool = False
    cwd: str = "/"
    given: bytes | None = None
    """A text that their side read or edited, after it was asked for; ``trouble`` says why there is none."""
    trouble: str = ""


class Stderr(bytes):
    """A piece of the answer that belongs on the caller's stderr."""


class Source(bytes):
    """The path of a file on the caller's side whose text is wanted, or `-` for stdin. Ask again with it."""


class Shown(bytes):
    """What a person should see before they confirm. The refusal for callers that nobody can ask follows."""


class Numbered(bytes):
    """The number of the question in the inbox that a person then answers."""


class Editable(bytes):
    """A text that a person may edit. Ask again with it."""


class ToFile(bytes):
    """The path of a file on the caller's side that takes what follows instead of stdout."""


KINDS: dict[type, bytes] = {
    Stderr: b"e",
    ToFile: b"f",
    Source: b"i",
    Shown: b"q",
    Numbered: b"n",
    Editable: b"t",
}
"""How the face protocol calls each piece; bytes of no kind are for stdout."""


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
        self._text = ""
        """What of the Input a person may edit."""

    async def pieces(self) -> AsyncGenerator[bytes | int, None]:
        self._options, words = split(self._caller.argv)
        if self._options.wants_help:
            yield self._whole(catalogue.op("help"), await self._help(words), None)
            yield 0
            return
        op, words = find(words, self._caller.is_robot)
        wanted = parse(op.Input, words)
        if op.takes_text:
            missing = given.source(wanted)
            if missing and self._caller.given is None:
                yield Source(os.fsencode(given.named(missing, self._caller.cwd)))
                yield 0
                return
            wanted = self._with_text(wanted)
        wanted = located(wanted, self._caller.cwd)
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

    def _with_text(self, wanted: Struct) -> Struct:
        if self._caller.given is not None:
            wanted = given.filled(wanted, self._caller.given, self._caller.trouble)
        self._text = getattr(wanted, "text", "")
        return wanted

    def failed(self, error: VisorError) -> tuple[bytes | int, ...]:
        if self._is_json:
            told = envelope.failure(error, self._world.clock, self._started)
            return envelope.encode(told), error.exit_status
        hint = "" if self._options.is_quiet else f"hint: {clean(error.hint)}\n"
        refusal = f"visor: {clean(error.message)}\n{hint}".encode()
        details = error.details
        if "editable" in details:
            return Editable(_encoded(details["editable"])), Stderr(refusal), error.exit_status
        if not (isinstance(error, Unconfirmed) or "shown" in details):
            return Stderr(refusal), error.exit_status
        seen = _written(difference(str(details.get("shown", "")), self._look(None)))
        number, text = _encoded(details.get("question", "")), _encoded(self._text)
        question = Shown(seen if number else seen + _written(clean(error.message)))
        rest = Stderr(refusal if self._options.is_quiet else seen + refusal)
        return question, Numbered(number), Editable(text if number else b""), rest, error.exit_status

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


def _encoded(value: object) -> bytes:
    return str(value).encode("utf-8", "replace")


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

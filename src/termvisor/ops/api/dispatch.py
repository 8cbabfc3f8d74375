"""From a command line or a JSON-RPC call to an answer: the seam between the ops and every face.

Invariant: `answer` never raises. Whatever goes wrong becomes an envelope for machines or `visor: <message>` for
people, and an exit status.
"""

import os
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import Any, cast

from msgspec import Struct

from termvisor.errors import BadRequest, ConfirmationRequired, VisorError
from termvisor.ops.api import catalog, envelope, text_input
from termvisor.ops.api.arguments import convert_arguments, make_paths_absolute, parse_arguments
from termvisor.ops.api.catalog import find_operation
from termvisor.ops.api.global_options import GlobalOptions, split_global_options
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, render_diff, sanitize
from termvisor.ops.system.help import build_help

_CHUNK_BYTES = 64 << 10

__all__ = [
    "CHUNK_KINDS",
    "CommandContext",
    "OutputPathChunk",
    "StderrChunk",
    "call_operation",
    "dispatch_command_line",
    "find_operation",
    "stream_operation",
]


class CommandContext(Struct, frozen=True, kw_only=True):
    """Who asks, and what their side looks like. ``argv`` is what stands after `visor`, or after `visor robot`."""

    argv: tuple[str, ...]
    is_robot: bool
    width: int = 80
    is_terminal: bool = False
    colour: bool = False
    cwd: str = "/"
    input_text: bytes | None = None
    """A text that their side read or edited, after it was asked for; ``trouble`` says why there is none."""
    input_error: str = ""


class StderrChunk(bytes):
    """A piece of the answer that belongs on the caller's stderr."""


class InputPathChunk(bytes):
    """The path of a file on the caller's side whose text is wanted, or `-` for stdin. Ask again with it."""


class ConfirmationChunk(bytes):
    """What a person should see before they confirm. The refusal for callers that nobody can ask follows."""


class ApprovalIdChunk(bytes):
    """The number of the question in the inbox that a person then answers."""


class EditableTextChunk(bytes):
    """A text that a person may edit. Ask again with it."""


class OutputPathChunk(bytes):
    """The path of a file on the caller's side that takes what follows instead of stdout."""


CHUNK_KINDS: dict[type, bytes] = {
    StderrChunk: b"e",
    OutputPathChunk: b"f",
    InputPathChunk: b"i",
    ConfirmationChunk: b"q",
    ApprovalIdChunk: b"n",
    EditableTextChunk: b"t",
}
"""How the face protocol calls each piece; bytes of no kind are for stdout."""


async def dispatch_command_line(services: Services, context: CommandContext) -> AsyncGenerator[bytes | int, None]:
    """What to write, piece by piece, and last the exit status."""
    reply = _CommandReply(services, context)
    try:
        async with aclosing(reply.generate_chunks()) as pieces:
            async for piece in pieces:
                yield piece
    except Exception as error:
        for piece in reply.render_error(envelope.convert_exception(error)):
            yield piece


class _CommandReply:
    """One answer in the making."""

    def __init__(self, services: Services, context: CommandContext):
        self._services, self._context = services, context
        self._started_at = services.clock.monotonic()
        self._options = GlobalOptions()
        self._editable_text = ""
        """What of the Input a person may edit."""

    async def generate_chunks(self) -> AsyncGenerator[bytes | int, None]:
        self._options, words = split_global_options(self._context.argv)
        if self._options.wants_help:
            yield self._render_result(catalog.load_operation("help"), await self._build_help(words), None)
            yield 0
            return
        op, words = find_operation(words, self._context.is_robot)
        wanted = parse_arguments(op.args_type, words)
        if op.accepts_text_input:
            missing = text_input.find_text_source(wanted)
            if missing and self._context.input_text is None:
                yield InputPathChunk(os.fsencode(text_input.make_path_absolute(missing, self._context.cwd)))
                yield 0
                return
            wanted = self._insert_input_text(wanted)
        wanted = make_paths_absolute(wanted, self._context.cwd)
        if op.is_stream_for(wanted):
            file = None if op.is_writing_file(wanted) else getattr(wanted, "output", None)
            async with aclosing(self._redirect_to_file(self._render_stream(op, wanted), file)) as chunks:
                async for chunk in chunks:
                    yield chunk
            yield 0
        else:
            result = await _run_operation(op, self._services, wanted)
            yield self._render_result(op, result, wanted)
            yield op.get_exit_status(result)

    def _insert_input_text(self, args: Struct) -> Struct:
        if self._context.input_text is not None:
            args = text_input.insert_text(args, self._context.input_text, self._context.input_error)
        self._editable_text = getattr(args, "text", "")
        return args

    def render_error(self, error: VisorError) -> tuple[bytes | int, ...]:
        if self._is_json:
            told = envelope.build_failure(error, self._services.clock, self._started_at)
            return envelope.encode_json_line(told), error.exit_status
        hint = "" if self._options.is_quiet else f"hint: {sanitize(error.hint)}\n"
        refusal = f"visor: {sanitize(error.message)}\n{hint}".encode()
        details = error.details
        if "editable" in details:
            return EditableTextChunk(_encode_text(details["editable"])), StderrChunk(refusal), error.exit_status
        if not (isinstance(error, ConfirmationRequired) or "shown" in details):
            return StderrChunk(refusal), error.exit_status
        seen = _encode_line(render_diff(str(details.get("shown", "")), self._build_render_options(None)))
        number, text = _encode_text(details.get("question", "")), _encode_text(self._editable_text)
        question = ConfirmationChunk(seen if number else seen + _encode_line(sanitize(error.message)))
        rest = StderrChunk(refusal if self._options.is_quiet else seen + refusal)
        return question, ApprovalIdChunk(number), EditableTextChunk(text if number else b""), rest, error.exit_status

    @property
    def _is_json(self) -> bool:
        return self._options.resolve_format(is_robot=self._context.is_robot) == "json"

    async def _build_help(self, words: list[str]) -> Struct:
        if words:
            return build_help(find_operation(words, self._context.is_robot)[0])
        return await call_operation(self._services, "help", {})

    def _render_result(self, op: Operation, result: Struct, args: Struct | None) -> bytes:
        if self._is_json:
            return envelope.encode_json_line(envelope.build_success(result, self._services.clock, self._started_at))
        return _encode_line(op.render_text(result, self._build_render_options(args)))

    async def _render_stream(self, op: Operation, args: Struct) -> AsyncGenerator[bytes, None]:
        """Items as they come; those of a stream that is not live travel together."""
        held, look = bytearray(), self._build_render_options(args)
        async with aclosing(_iterate_items(op, self._services, args)) as items:
            async for item in items:
                held += envelope.encode_json_line(item) if self._is_json else _encode_line(op.render_text(item, look))
                if op.is_live or len(held) > _CHUNK_BYTES:
                    yield bytes(held)
                    held.clear()
        if held:
            yield bytes(held)

    async def _redirect_to_file(
        self, chunks: AsyncGenerator[bytes, None], path: str | None
    ) -> AsyncGenerator[bytes, None]:
        """The caller's file is named only once there is something to write, or nothing went wrong."""
        target = OutputPathChunk(os.fsencode(path)) if path else None
        async for chunk in chunks:
            if target:
                yield target
                target = None
            yield chunk
        if target:
            yield target

    def _build_render_options(self, args: Struct | None) -> RenderOptions:
        caller = self._context
        is_terminal = caller.is_terminal and getattr(args, "output", None) is None
        return RenderOptions(
            width=caller.width if is_terminal else 0,
            colour=caller.colour,
            now=self._services.clock.now(),
            format=self._options.resolve_format(is_robot=caller.is_robot),
            is_terminal=is_terminal,
            is_quiet=self._options.is_quiet,
        )


def _encode_text(value: object) -> bytes:
    return str(value).encode("utf-8", "replace")


def _encode_line(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    return f"{text}\n".encode("utf-8", "replace") if text else b""


async def call_operation(services: Services, name: str, params: dict[str, Any]) -> Struct:
    """One op, by any of its names, with its Input as plain values."""
    op = catalog.load_by_any_name(name)
    wanted = convert_arguments(op.args_type, params)
    if op.is_stream_for(wanted):
        raise BadRequest(f"{op.name} is a stream", hint="Ask for it as a stream.")
    return await _run_operation(op, services, wanted)


async def stream_operation(services: Services, name: str, params: dict[str, Any]) -> AsyncGenerator[Struct, None]:
    """The items of a stream; an op that is none gives its one answer."""
    op = catalog.load_by_any_name(name)
    wanted = convert_arguments(op.args_type, params)
    if not op.is_stream_for(wanted):
        yield await _run_operation(op, services, wanted)
        return
    async with aclosing(_iterate_items(op, services, wanted)) as items:
        async for item in items:
            yield item


async def _run_operation(op: Operation, services: Services, args: Struct) -> Struct:
    return cast(Struct, await cast(Awaitable[Any], op.run(services, args)))


def _iterate_items(op: Operation, services: Services, args: Struct) -> AsyncGenerator[Struct, None]:
    return cast(AsyncGenerator[Struct, None], (op.follow or op.run)(services, args))

"""Run operations for front ends: parse a command line or JSON-RPC call, execute it and render the result.

Invariant: `dispatch_command_line` never raises. Every error becomes a JSON envelope or `visor: <message>` on stderr,
and an exit status.
"""

import os
import re
from collections.abc import AsyncGenerator, Awaitable, Sequence
from contextlib import aclosing
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import BadRequest, ConfirmationRequired, VisorError
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api import arguments, catalog, envelope, text_input
from termvisor.ops.api.catalog import find_operation
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import ActionRequest, execute_with_approval
from termvisor.ops.render.text import RenderOptions, render_diff, sanitize, wrap_lines
from termvisor.ops.system.help import build_help
from termvisor.settings import get_home_folder

_NO_UTF8 = re.compile("[\udc80-\udcff]")
_CHUNK_BYTES = 64 << 10
"""Items of a stream that is not live are buffered up to this size."""

__all__ = [
    "CHUNK_KINDS",
    "CommandContext",
    "OutputPathChunk",
    "StderrChunk",
    "authorize_local_command",
    "call_operation",
    "dispatch_command_line",
    "find_operation",
    "iterate_items",
    "render_wrapped",
    "replace_bytes",
    "run_operation",
    "stream_operation",
]


class CommandContext(Struct, frozen=True, kw_only=True):
    """One command line and the client's terminal. ``argv`` is without `visor` or `visor robot`."""

    argv: tuple[str, ...]
    is_robot: bool
    width: int = 80
    is_terminal: bool = False
    colour: bool = False
    cwd: str = "/"
    input_text: bytes | None = None
    """The text that the client read or edited on request; ``input_error`` is the reason if it could not."""
    input_error: str = ""


class StderrChunk(bytes):
    """Output for the client's stderr."""


class InputPathChunk(bytes):
    """Path of a file that the client must read (`-`: stdin) and send with a repeated request."""


class ConfirmationChunk(bytes):
    """Preview to show before the user confirms; the error for non-interactive clients follows."""


class ApprovalIdChunk(bytes):
    """Id of the approval request that the user answers; empty for a plain confirmation."""


class ConsentOptionChunk(bytes):
    """Option that the client adds if the user confirms; empty for `--yes`."""


class EditableTextChunk(bytes):
    """Text that the user may edit; the client sends it with a repeated request."""


class OutputPathChunk(bytes):
    """Path of a file to which the client writes all following output instead of stdout."""


CHUNK_KINDS: dict[type, bytes] = {
    StderrChunk: b"e",
    OutputPathChunk: b"f",
    InputPathChunk: b"i",
    ConfirmationChunk: b"q",
    ApprovalIdChunk: b"n",
    ConsentOptionChunk: b"c",
    EditableTextChunk: b"t",
}
"""Tags in the command protocol; plain bytes go to stdout."""


async def dispatch_command_line(services: Services, context: CommandContext) -> AsyncGenerator[bytes | int, None]:
    """Yield output chunks, then the exit status."""
    reply = _CommandReply(services, context)
    try:
        async with aclosing(reply.generate_chunks()) as chunks:
            async for chunk in chunks:
                yield chunk
    except Exception as error:  # the operation runner: a bug in one operation must not end the connection
        for chunk in reply.render_error(envelope.convert_exception(error)):
            yield chunk


async def authorize_local_command(services: Services, context: CommandContext) -> AsyncGenerator[bytes | int, None]:
    """Yield an error and its exit status if the client must not run this command line itself; else nothing."""
    reply = _CommandReply(services, context)
    try:
        await reply.authorize()
    except Exception as error:  # as above; without an answer the client would wait forever
        for chunk in reply.render_error(envelope.convert_exception(error)):
            yield chunk


def replace_bytes(argv: Sequence[str], *, is_robot: bool) -> tuple[str, ...]:
    """Return the words of a client with what is not UTF-8 replaced, unless their operation takes any bytes."""
    clean = tuple(_NO_UTF8.sub("\ufffd", word) for word in argv)
    if clean == tuple(argv):
        return clean
    try:
        op, _ = find_operation(clean, is_robot)
    except VisorError:  # reported when the command line is dispatched
        return clean
    return tuple(argv) if op.accepts_argument_bytes else clean


def _parse_arguments(op: Operation, words: list[str]) -> Struct:
    if op.option_of_dashes and "--" in words:
        words = [*words[: words.index("--")], op.option_of_dashes, *words[words.index("--") :]]
    try:
        return arguments.parse_arguments(op.args_type, words)
    except BadRequest as error:
        if error.hint == BadRequest.hint:
            error.hint = f"Run `visor help {op.command}` for its arguments and options."
        raise


class _CommandReply:
    """Builds the reply to one command line."""

    def __init__(self, services: Services, context: CommandContext):
        self._services, self._context = services, context
        self._started_at = services.clock.monotonic()
        self._options = arguments.GlobalOptions()
        self._selected_fields: envelope.FieldTree = {}
        self._editable_text = ""

    async def authorize(self) -> None:
        """Authorize the changes of a command that the client is going to run itself."""
        self._options, words = arguments.split_global_options(self._context.argv)
        op, words = find_operation(words, self._context.is_robot)
        if not self._options.wants_help:
            args = arguments.make_paths_absolute(_parse_arguments(op, words), self._context.cwd)
            await authorize_changes(op, self._services, args)

    async def generate_chunks(self) -> AsyncGenerator[bytes | int, None]:
        self._options, words = arguments.split_global_options(self._context.argv)
        if self._options.wants_help:
            yield self._render_result(catalog.load_operation("help"), await self._build_help(words), None)
            yield 0
            return
        op, words = find_operation(words, self._context.is_robot)
        args = _parse_arguments(op, words)
        self._selected_fields = self._parse_selected_fields(op)
        if op.accepts_text_input:
            # The daemon opens no file for a client and cannot read its stdin, so it asks the client to read the text
            # and to send the command line again together with it.
            source = text_input.find_text_source(args)
            if source and self._context.input_text is None:
                yield InputPathChunk(os.fsencode(text_input.make_path_absolute(source, self._context.cwd)))
                yield 0
                return
            args = self._insert_input_text(args)
        # Done after the text is inserted, because `--file` is read by the client and is not a path for the daemon.
        args = arguments.make_paths_absolute(args, self._context.cwd)
        if not op.is_local(words):
            await authorize_changes(op, self._services, args)
        if op.is_stream_for(args):
            # The client writes the file, with its own permissions; only a snapshot is written by the operation itself.
            file = None if op.is_writing_file(args) else getattr(args, "output", None)
            async with aclosing(self._redirect_to_file(self._render_stream(op, args), file)) as chunks:
                async for chunk in chunks:
                    yield chunk
            yield 0
        else:
            result = await run_operation(op, self._services, args)
            yield self._render_result(op, result, args)
            yield op.get_exit_status(result)

    def _insert_input_text(self, args: Struct) -> Struct:
        if self._context.input_text is not None:
            args = text_input.insert_text(args, self._context.input_text, self._context.input_error)
        # A secret is neither shown nor edited when approval is required.
        self._editable_text = "" if getattr(args, "secret", False) else getattr(args, "text", "")
        return args

    def render_error(self, error: VisorError) -> tuple[bytes | int, ...]:
        """Return the chunks for an error, including what an interactive client needs in order to confirm or edit."""
        if self._is_json:
            failure = envelope.build_failure(error, self._services.clock, self._started_at)
            return envelope.encode_json_line(self._name_commands(failure)), error.exit_status
        hint = "" if self._options.is_quiet else f"hint: {sanitize(error.hint)}\n"
        width = self._build_render_options(None).width
        message = wrap_lines(f"visor: {sanitize(error.message)}\n{hint}", width).encode()
        details = error.details
        if "editable" in details:
            return EditableTextChunk(_encode_text(details["editable"])), StderrChunk(message), error.exit_status
        if not (isinstance(error, ConfirmationRequired) or "shown" in details):
            return StderrChunk(message), error.exit_status
        preview = _encode_line(render_diff(str(details.get("shown", "")), self._build_render_options(None)))
        approval_id, text = _encode_text(details.get("question", "")), _encode_text(self._editable_text)
        return (
            ConfirmationChunk(preview if approval_id else preview + _encode_line(sanitize(error.message))),
            ApprovalIdChunk(approval_id),
            ConsentOptionChunk(_encode_text(details.get("consent", ""))),
            EditableTextChunk(text if approval_id else b""),
            StderrChunk(message if self._options.is_quiet else preview + message),
            error.exit_status,
        )

    @property
    def _is_json(self) -> bool:
        return self._options.resolve_format(is_robot=self._context.is_robot) == "json"

    async def _build_help(self, words: list[str]) -> Struct:
        if words:
            return build_help(find_operation(words, self._context.is_robot)[0])
        return await call_operation(self._services, "help", {})

    def _render_result(self, op: Operation, result: Struct, args: Struct | None) -> bytes:
        if self._is_json:
            data, hint = self._choose_fields(op, result), op.get_hint(result)
            success = envelope.build_success(data, self._services.clock, self._started_at, hint)
            return envelope.encode_json_line(self._name_commands(success))
        return _encode_line(render_wrapped(op, result, self._build_render_options(args)))

    def _name_commands(self, answer: envelope.Envelope) -> envelope.Envelope:
        """Return an answer to a program with a hint that the program can follow."""
        if not (self._context.is_robot and answer.hint):
            return answer
        return replace(answer, hint=catalog.name_robot_commands(answer.hint))

    def _parse_selected_fields(self, op: Operation) -> envelope.FieldTree:
        """Check `--fields` before the operation runs, because a call that fails must not have changed anything."""
        if self._options.fields and not self._is_json:
            raise BadRequest("--fields selects fields of JSON", hint="Add --json, or call `visor robot`.")
        return envelope.parse_field_paths(self._options.fields, op.result_type)

    def _choose_fields(self, op: Operation, result: Struct) -> Any:
        # An export is read by programs, later and elsewhere: its lines always have every field.
        is_full = self._options.is_full or (op.is_stream and not op.is_live)
        return envelope.select_fields(result, self._selected_fields, is_full=is_full)

    async def _render_stream(self, op: Operation, args: Struct) -> AsyncGenerator[bytes, None]:
        """Yield rendered items; buffer them unless the stream is live."""
        buffer, options = bytearray(), self._build_render_options(args)
        async with aclosing(iterate_items(op, self._services, args)) as items:
            async for item in items:
                if self._is_json:
                    buffer += envelope.encode_json_line(self._choose_fields(op, item))
                else:
                    buffer += _encode_line(render_wrapped(op, item, options))
                # With one frame per line, the client would wake up for every line of an export.
                if op.is_live or len(buffer) > _CHUNK_BYTES:
                    yield bytes(buffer)
                    buffer.clear()
        if buffer:
            yield bytes(buffer)

    async def _redirect_to_file(
        self, chunks: AsyncGenerator[bytes, None], path: str | None
    ) -> AsyncGenerator[bytes, None]:
        """Name the client's file before the first chunk, so that an early error does not truncate it."""
        # An empty stream must still create the file, hence the second yield below.
        target = OutputPathChunk(os.fsencode(path)) if path else None
        async for chunk in chunks:
            if target:
                yield target
                target = None
            yield chunk
        if target:
            yield target

    def _build_render_options(self, args: Struct | None) -> RenderOptions:
        context = self._context
        is_terminal = context.is_terminal and getattr(args, "output", None) is None
        return RenderOptions(
            width=context.width if is_terminal and not self._options.is_wide else 0,
            colour=context.colour,
            now=self._services.clock.now(),
            format=self._options.resolve_format(is_robot=context.is_robot),
            is_terminal=is_terminal,
            is_quiet=self._options.is_quiet,
            home=get_home_folder(),
        )


def render_wrapped(op: Operation, result: Struct, options: RenderOptions) -> str | bytes:
    """Render a result and fold its sentences at spaces, so that the terminal does not cut them inside a word."""
    text = op.render_text(result, options)
    # Scripts count the lines of `--quiet`, and Markdown is folded by its reader.
    if isinstance(text, bytes) or op.is_verbatim or options.is_quiet or options.format != "plain":
        return text
    return wrap_lines(text, options.width)


def _encode_text(value: object) -> bytes:
    return str(value).encode("utf-8", "replace")


def _encode_line(text: str | bytes) -> bytes:
    if isinstance(text, bytes):
        return text
    return f"{text}\n".encode("utf-8", "replace") if text else b""


async def call_operation(services: Services, name: str, params: dict[str, Any]) -> Struct:
    """Call an operation by any of its names with plain values. Raises BadRequest if it is a stream."""
    op = catalog.load_by_any_name(name)
    args = arguments.convert_arguments(op.args_type, params)
    if op.is_stream_for(args):
        raise BadRequest(f"{op.name} is a stream", hint="Request it as a stream.")
    await authorize_changes(op, services, args)
    return await run_operation(op, services, args)


async def stream_operation(services: Services, name: str, params: dict[str, Any]) -> AsyncGenerator[Struct, None]:
    """Yield the items of a stream, or the single result of an operation that is not a stream."""
    op = catalog.load_by_any_name(name)
    args = arguments.convert_arguments(op.args_type, params)
    await authorize_changes(op, services, args)
    if not op.is_stream_for(args):
        yield await run_operation(op, services, args)
        return
    async with aclosing(iterate_items(op, services, args)) as items:
        async for item in items:
            yield item


async def run_operation(op: Operation, services: Services, args: Struct) -> Struct:
    """Run an operation that is not a stream; its changes are authorized already."""
    return cast(Struct, await cast(Awaitable[Any], op.run(services, args)))


def iterate_items(op: Operation, services: Services, args: Struct) -> AsyncGenerator[Struct, None]:
    """Yield the items of a stream; its changes are authorized already."""
    return cast(AsyncGenerator[Struct, None], (op.follow or op.run)(services, args))


async def authorize_changes(op: Operation, services: Services, args: Struct) -> None:
    """Record the changes of a call in the audit log, if the gate allows them.

    A person who runs the command has decided already; a program gets NeedsApproval or Refused, and nothing is changed.
    """
    for action in op.list_changes(services, args) if op.list_changes is not None else ():
        request = ActionRequest(action=action, preconditions=Preconditions())
        await execute_with_approval(services, request, "once")

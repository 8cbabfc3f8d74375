"""Run the calls of models: an operation's arguments in, its plain text or its JSON envelope out.

Invariant: `call_tool` never raises; every error is an answer with a code of the one table. Only tools and arguments
that the interface `mcp` shows can be called, so no argument approves anything or opens a file.
"""

import re
from contextlib import aclosing
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from termvisor.errors import BadRequest, UnknownCommand, VisorError
from termvisor.ops.api import arguments, dispatch, envelope
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.api.tool_catalog import (
    ARGUMENT_ALIASES,
    OPERATION_BY_TOOL,
    list_required_fields,
    list_tool_arguments,
    load_tool,
    name_tools,
)
from termvisor.ops.render.text import RenderOptions, sanitize_lines, suggest_name
from termvisor.redaction import redact
from termvisor.settings import get_home_folder

MCP_VERSION = "v1"
"""Version of the tools: their names, arguments and answers."""
MAX_STREAM_BYTES = 1 << 20
"""The items of a stream are collected up to this size."""
MAX_CAUSE_CHARS = 200
ToolFormat = Literal["plain", "json", "data"]
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e01ef]"
)
"""Characters that a person does not see and a model reads: they could carry instructions."""


class ToolCall(Struct, frozen=True, kw_only=True):
    """``cause`` is the caller's own id of this call, which the audit log keeps."""

    tool: str
    arguments: dict[str, Any] = {}
    format: ToolFormat = "plain"
    cause: str = ""


class ToolAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """``note`` follows the text and is not part of it. ``is_untrusted``: the text has parts that programs printed."""

    text: str
    note: str = ""
    is_error: bool = False
    is_untrusted: bool = False


def parse_cause(text: str) -> str:
    """Return what a client said about its call as the beginning of a correlation: `mcp:<id>`, or empty."""
    words = re.sub(r"[^A-Za-z0-9_-]+", "-", redact(text[:MAX_CAUSE_CHARS])).strip("-")
    return f"mcp:{words}" if words else ""


class ToolEnvelope(envelope.Envelope, frozen=True, kw_only=True):
    mcp_version: str = MCP_VERSION


async def call_tool(services: Services, call: ToolCall) -> ToolAnswer:
    """Run a call and return its answer, also if it failed."""
    started_at = services.clock.monotonic()
    op = load_tool(call.tool)
    try:
        if op is None:
            hint = suggest_name(call.tool, list(OPERATION_BY_TOOL), f"Tools: {', '.join(OPERATION_BY_TOOL)}.")
            raise UnknownCommand(f"unknown tool {call.tool!r}", hint=hint)
        result = await _run_tool(services, op, call.arguments)
        return _build_answer(services, op, call, result, started_at)
    except Exception as error:  # the operation runner: a bug in one operation must not end the connection
        failure = _name_in_tool_words(op, envelope.convert_exception(error))
        if call.format != "plain":
            answer = envelope.build_failure(failure, services.clock, started_at)
            return ToolAnswer(text=_encode_envelope(answer), is_error=True)
        return ToolAnswer(text=_format_error(failure), is_error=True)


async def _run_tool(services: Services, op: Operation, values: dict[str, Any]) -> Any:
    args = _convert_arguments(op, values)
    if op.is_stream_for(args):
        return await _collect_items(services, op, args)
    await dispatch.authorize_changes(op, services, args)
    return await dispatch.run_operation(op, services, args)


def _convert_arguments(op: Operation, values: dict[str, Any]) -> Struct:
    """Convert a model's arguments, leniently where only one meaning is possible. Raises BadRequest."""
    shown = {argument.field: argument for argument in list_tool_arguments(op)}
    named = {ARGUMENT_ALIASES.get(name, name): value for name, value in values.items() if value is not None}
    if unknown := [name for name in named if name not in shown]:
        hint = suggest_name(unknown[0], list(shown), f"Arguments: {', '.join(shown)}.")
        raise BadRequest(f"unknown argument {unknown[0]!r}", hint=hint)
    if missing := [name for name in list_required_fields(op) if name not in named]:
        raise BadRequest(f"missing argument: {missing[0]}", hint="Add it and call again.")
    return arguments.convert_arguments(
        op.args_type, {name: _convert_value(shown[name], value) for name, value in named.items()}
    )


def _convert_value(argument: arguments.CommandArgument, value: Any) -> Any:
    # Pane 7 is the text `7`; and some models quote numbers.
    if argument.type is str and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if argument.type is int and isinstance(value, float) and value.is_integer():
        return int(value)
    if argument.type in (int, float, bool) and isinstance(value, str):
        try:
            return msgspec.convert(value, argument.type, strict=False)
        except msgspec.ValidationError:
            return value  # refused below, with the name of the argument
    return value


async def _collect_items(services: Services, op: Operation, args: Struct) -> list[Any]:
    items, size = [], 0
    async with aclosing(dispatch.iterate_items(op, services, args)) as stream:
        async for item in stream:
            items.append(item)
            size += len(msgspec.json.encode(item))
            if size > MAX_STREAM_BYTES:
                break
    return items


def _build_answer(services: Services, op: Operation, call: ToolCall, result: Any, started_at: float) -> ToolAnswer:
    is_stream = isinstance(result, list)
    hint = None if is_stream else op.get_hint(result)
    hint = hint and name_tools(op, hint)
    if call.format == "plain":
        options = RenderOptions(
            width=0,
            colour=call.arguments.get("escapes") is True,
            now=services.clock.now(),
            home=get_home_folder(),
        )
        texts = [_render_plain(op, item, options) for item in (result if is_stream else [result])]
        text = "\n".join(texts) or "(nothing)"
        notes = [*_list_cursor_notes(op, result), *([f"hint: {hint}"] if hint else [])]
        return ToolAnswer(text=text, note="\n".join(notes), is_untrusted=op.shows_pane_text)
    data = envelope.build_sparse_value({"items": result} if is_stream else result)
    if call.format == "data":
        return ToolAnswer(text=_encode_json(data), is_untrusted=op.shows_pane_text)
    answer = envelope.build_success(data, services.clock, started_at, hint)
    return ToolAnswer(text=_encode_envelope(answer), is_untrusted=op.shows_pane_text)


def _render_plain(op: Operation, result: Struct, options: RenderOptions) -> str:
    try:
        text = op.render_text(result, options)
    except BadRequest:  # its text is for a terminal only, such as the frames of a replay
        return _encode_json(envelope.build_sparse_value(result))
    text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
    return _HIDDEN.sub("", text).rstrip("\n")


def _list_cursor_notes(op: Operation, result: Any) -> list[str]:
    """Return where to read on: the text for people does not show cursors."""
    cursor = getattr(result, "cursor", None)
    names = [argument.field for argument in list_tool_arguments(op)]
    field = next((name for name in ("since_cursor", "since", "after") if name in names), "since")
    return [f"{field} for what follows: {cursor}"] if cursor not in (None, "") else []


def _encode_envelope(answer: envelope.Envelope) -> str:
    fields = asdict(answer) | ({"error": answer.error} if answer.error else {})
    return _encode_json(ToolEnvelope(**fields))


def _encode_json(value: Any) -> str:
    return envelope.encode_json_line(value).decode().rstrip("\n")


def _name_in_tool_words(op: Operation | None, error: VisorError) -> VisorError:
    """Return the error with its hint, and the argument that its message begins with, in the words of tool calls."""
    if op is None:
        return error
    hint = name_tools(op, error.hint)
    if error.code == BadRequest.code and hint == name_tools(op, BadRequest.hint):
        hint = f"Arguments: {', '.join(argument.field for argument in list_tool_arguments(op))}."
    error.hint = hint
    if isinstance(error, BadRequest):
        error.message = name_tools(op, error.message)
    return error


def _format_error(error: VisorError) -> str:
    lines = [f"error: {error.code}: {error.message}", f"hint: {error.hint}"]
    if error.details:
        lines.append(f"details: {_encode_json(error.details)}")
    return _HIDDEN.sub("", sanitize_lines("\n".join(lines)))

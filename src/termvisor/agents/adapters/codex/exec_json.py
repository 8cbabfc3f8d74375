"""Read the output of `codex exec --json`: one JSON object per line, for one thread with one turn.

Any program can print such lines, so the caller must verify that Codex is in the foreground. Codex prints `error` for
failures that it retries as well; only `turn.failed` is final.
"""

from collections.abc import Callable

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord
from termvisor.agents.adapters.codex import error_codes
from termvisor.agents.adapters.codex.process_match import SESSION_RESUME, parse_command_line
from termvisor.agents.adapters.codex.usage import build_thread_usage_payload
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str, parse_json_object
from termvisor.agents.adapters.statements import AgentStatement, build_payload

_ITEM_PREFIX = "item."


def is_printing_json(process: ProcessInfo) -> bool:
    """Return True if the process was started to print JSON lines."""
    command_line = parse_command_line(process)
    return command_line.subcommand in ("exec", "e") and command_line.prints_json


def read_exec_line(record: SourceRecord) -> list[AgentStatement]:
    """Parse one line; lines of other programs, which may print below it, are ignored."""
    line = parse_json_object(record.text)
    kind = get_str(line, "type") if line is not None else ""
    read_line = _LINE_READERS.get(kind) or (_read_item if kind.startswith(_ITEM_PREFIX) else None)
    statement = read_line(line, record.at) if line is not None and read_line is not None else None
    return [] if statement is None else [statement]


def _read_thread_started(fields: JsonObject, now: int) -> AgentStatement | None:
    thread = get_str(fields, "thread_id")
    return AgentStatement(kind="note", session=thread) if SESSION_RESUME.is_session(thread) else None


def _read_turn_started(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running")


def _read_item(fields: JsonObject, now: int) -> AgentStatement | None:
    # An item of type `error` is a warning, which may come before the turn starts.
    kind = get_str(get_object(fields, "item"), "type")
    return AgentStatement(state="running", payload=build_payload(item=kind)) if kind and kind != "error" else None


def _read_turn_completed(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="completed", payload=build_thread_usage_payload(get_object(fields, "usage")))


def _read_retried_error(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="note", payload=build_payload(message=get_str(fields, "message")))


def _read_turn_failed(fields: JsonObject, now: int) -> AgentStatement:
    message = get_str(get_object(fields, "error"), "message")
    return error_codes.build_error_statement(error_codes.classify_error_message(message), message, now)


_LINE_READERS: dict[str, Callable[[JsonObject, int], AgentStatement | None]] = {
    "thread.started": _read_thread_started,
    "turn.started": _read_turn_started,
    "turn.completed": _read_turn_completed,
    "turn.failed": _read_turn_failed,
    "error": _read_retried_error,
}

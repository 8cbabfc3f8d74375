"""What `codex exec --json` prints: one JSON object a line, from the thread's start to the end of its one turn.

Anybody can print such lines, so whoever reads them must know that this process has the terminal. A failure that is
tried again is told as an `error`, too; only `turn.failed` is the last one.
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
    """Whether its output is meant for programs."""
    call = parse_command_line(process)
    return call.subcommand in ("exec", "e") and call.prints_json


def read_exec_line(record: SourceRecord) -> list[AgentStatement]:
    """Nothing for what is no line of it: other programs may print below it."""
    line = parse_json_object(record.text)
    kind = get_str(line, "type") if line is not None else ""
    read_one = _LINE_READERS.get(kind) or (_read_item if kind.startswith(_ITEM_PREFIX) else None)
    said = read_one(line, record.at) if line is not None and read_one is not None else None
    return [] if said is None else [said]


def _read_thread_started(fields: JsonObject, now: int) -> AgentStatement | None:
    thread = get_str(fields, "thread_id")
    return AgentStatement(kind="note", session=thread) if SESSION_RESUME.is_session(thread) else None


def _read_turn_started(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running")


def _read_item(fields: JsonObject, now: int) -> AgentStatement | None:
    """A warning is told as an item, too; it may come before there is any work."""
    kind = get_str(get_object(fields, "item"), "type")
    return AgentStatement(state="running", payload=build_payload(item=kind)) if kind and kind != "error" else None


def _read_turn_completed(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="completed", payload=build_thread_usage_payload(get_object(fields, "usage")))


def _read_retried_error(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="note", payload=build_payload(message=get_str(fields, "message")))


def _read_turn_failed(fields: JsonObject, now: int) -> AgentStatement:
    words = get_str(get_object(fields, "error"), "message")
    kind = error_codes.classify_error_message(words)
    return AgentStatement(
        state="error",
        flags=error_codes.build_error_flags(kind, words, now),
        payload=build_payload(error=kind, message=words),
    )


_LINE_READERS: dict[str, Callable[[JsonObject, int], AgentStatement | None]] = {
    "thread.started": _read_thread_started,
    "turn.started": _read_turn_started,
    "turn.completed": _read_turn_completed,
    "turn.failed": _read_turn_failed,
    "error": _read_retried_error,
}

"""The rollout: the file in which Codex keeps one thread, a line for everything that happens.

Its name holds the thread's id, but nothing in it names a process. So a line counts only where the process was proven
by its own command line. Of other threads the first line is taken, which tells the folder, and what they used: that goes
to whoever has shown the thread elsewhere, and to nobody else.
"""

import posixpath
import re
from collections.abc import Callable

from termvisor.agents.adapters.adapter import ProcessInfo, SourceRecord, WatchedPath
from termvisor.agents.adapters.codex import error_codes
from termvisor.agents.adapters.codex.process_match import find_codex_home, find_resumed_session
from termvisor.agents.adapters.codex.usage import build_usage_payload, build_window_flags, build_window_payload
from termvisor.agents.adapters.json_access import (
    JsonObject,
    get_int,
    get_object,
    get_str,
    parse_json_object,
    parse_timestamp,
)
from termvisor.agents.adapters.statements import AgentStatement, add_context, build_payload, build_unknown_statement
from termvisor.model.agent.signal import FlagUpdate, ProcessHint

SOURCE_NAME = "rollout"
INTERACTIVE_ORIGINATORS = ("codex-tui", "codex_cli_rs")
"""What a Codex with a face calls itself; other programs keep threads in the same place."""
_FILE_NAME = re.compile(r"rollout-[\dT:-]+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl")


def list_watched_paths(process: ProcessInfo) -> list[WatchedPath]:
    home = find_codex_home(process)
    if not home:
        return []
    thread = find_resumed_session(process)
    name = f"rollout-*-{thread}.jsonl" if thread else "rollout-*.jsonl"
    hint = ProcessHint(pid=process.pid, pid_started=process.pid_started) if thread else ProcessHint()
    folder = posixpath.join(home, "sessions")
    return [WatchedPath(source=SOURCE_NAME, kind="lines", folder=folder, pattern=name, is_deep=True, hint=hint)]


def read_rollout(record: SourceRecord) -> list[AgentStatement]:
    line = parse_json_object(record.text)
    if line is None:
        return [build_unknown_statement(record.text)]
    told = get_object(line, "payload")
    if get_str(line, "type") == "session_meta":
        return _read_session_meta(record, told)
    kind = get_str(told, "type") if get_str(line, "type") == "event_msg" else get_str(line, "type")
    read_one = _LINE_READERS.get(kind) if record.hint.pid else _UNOWNED_LINE_READERS.get(kind)
    said = read_one(told, record.at) if read_one is not None else None
    at = min(parse_timestamp(line.get("timestamp")) or record.at, record.at)
    return [] if said is None else add_context([said], session=_parse_session(record), at=at)


def _parse_session(record: SourceRecord) -> str:
    found = _FILE_NAME.fullmatch(posixpath.basename(record.path))
    return found[1] if found else ""


def _read_session_meta(record: SourceRecord, fields: JsonObject) -> list[AgentStatement]:
    if get_str(fields, "originator") not in INTERACTIVE_ORIGINATORS or fields.get("thread_source", "user") != "user":
        return []
    said = AgentStatement(
        kind="note", payload=build_payload(version=get_str(fields, "cli_version"), transcript=record.path)
    )
    hint = record.hint if record.hint.pid else ProcessHint(target=record.hint.target, cwd=get_str(fields, "cwd"))
    at = parse_timestamp(fields.get("timestamp")) or record.at
    return add_context([said], session=get_str(fields, "id"), hint=hint, at=min(at, record.at))


def _read_task_started(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(
        state="running", payload=build_payload(context_size=get_int(fields, "model_context_window") or None)
    )


def _read_task_complete(fields: JsonObject, now: int) -> AgentStatement:
    error = get_object(fields, "error")
    if not error:
        return AgentStatement(
            state="completed", payload=build_payload(last_message=get_str(fields, "last_agent_message"))
        )
    kind, words = error_codes.classify_error_code(error.get("codex_error_info")), get_str(error, "message")
    return AgentStatement(
        state="error",
        flags=error_codes.build_error_flags(kind, words, now),
        payload=build_payload(error=kind, message=words),
    )


def _read_turn_aborted(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="idle")


def _read_token_count(fields: JsonObject, now: int) -> AgentStatement:
    info = get_object(fields, "info")
    window = get_int(info, "model_context_window")
    counts = build_usage_payload(get_object(info, "total_token_usage"), get_object(info, "last_token_usage"), window)
    limits = fields.get("rate_limits")
    return AgentStatement(kind="note", flags=build_window_flags(limits), payload=counts | build_window_payload(limits))


def _read_turn_context(fields: JsonObject, now: int) -> AgentStatement | None:
    model = get_str(fields, "model")
    return AgentStatement(kind="note", payload=build_payload(model=model)) if model else None


def _read_compacted(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="note", flags=FlagUpdate(compacting=False))


_UNOWNED_LINE_READERS: dict[str, Callable[[JsonObject, int], AgentStatement | None]] = {
    "token_count": _read_token_count,
    "turn_context": _read_turn_context,
}
_LINE_READERS = _UNOWNED_LINE_READERS | {
    "task_started": _read_task_started,
    "task_complete": _read_task_complete,
    "turn_aborted": _read_turn_aborted,
    "compacted": _read_compacted,
}
"""Lines that are not here tell what was said, not what Codex is doing."""

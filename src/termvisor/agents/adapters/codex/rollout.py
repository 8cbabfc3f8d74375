"""Read Codex rollout files: one file per thread, one line per event.

The file name contains the thread id, but nothing names the process. So a line counts only if the command line of the
process proves that it resumed the thread. From other threads only the first line, which has the folder, and the token
usage are read; they apply to an agent that another source has connected with the thread.
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
"""Originators of interactive threads; other programs store threads in the same folder."""
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
    """Parse one line of a rollout file."""
    line = parse_json_object(record.text)
    if line is None:
        return [build_unknown_statement(record.text)]
    fields, kind = get_object(line, "payload"), get_str(line, "type")
    if kind == "session_meta":
        return _read_session_meta(record, fields)
    if kind == "event_msg":
        kind = get_str(fields, "type")
    read_line = _LINE_READERS.get(kind) if record.hint.pid else _UNOWNED_LINE_READERS.get(kind)
    statement = read_line(fields, record.at) if read_line is not None else None
    at = min(parse_timestamp(line.get("timestamp")) or record.at, record.at)
    return [] if statement is None else add_context([statement], session=_parse_session(record), at=at)


def _parse_session(record: SourceRecord) -> str:
    match = _FILE_NAME.fullmatch(posixpath.basename(record.path))
    return match[1] if match else ""


def _read_session_meta(record: SourceRecord, fields: JsonObject) -> list[AgentStatement]:
    if get_str(fields, "originator") not in INTERACTIVE_ORIGINATORS or fields.get("thread_source", "user") != "user":
        return []
    statement = AgentStatement(
        kind="note", payload=build_payload(version=get_str(fields, "cli_version"), transcript=record.path)
    )
    hint = record.hint if record.hint.pid else ProcessHint(target=record.hint.target, cwd=get_str(fields, "cwd"))
    at = parse_timestamp(fields.get("timestamp")) or record.at
    return add_context([statement], session=get_str(fields, "id"), hint=hint, at=min(at, record.at))


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
    kind = error_codes.classify_error_code(error.get("codex_error_info"))
    return error_codes.build_error_statement(kind, get_str(error, "message"), now)


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
"""Other types of lines contain the conversation, not the state."""

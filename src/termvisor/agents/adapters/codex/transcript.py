"""Read Codex rollout files: one file per thread, one line per event.

The file name contains the thread id, but nothing names the process. So a line counts only if the command line of the
process proves that it resumed the thread. For other threads only the first line, which has the folder, and the token
usage are read. They apply to an agent that another source has linked to the thread.
"""

import posixpath
import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex.error_codes import build_code_error_statement
from termvisor.agents.adapters.codex.usage import build_usage_payload, build_window_flags, build_window_payload
from termvisor.agents.adapters.command_line import UUID_PATTERN
from termvisor.agents.adapters.json_access import (
    JsonObject,
    get_int,
    get_object,
    get_str,
    parse_json_object,
    parse_timestamp,
)
from termvisor.agents.adapters.statements import (
    COMPACTION_END,
    AgentStatement,
    EventTable,
    apply_interpreter,
    build_payload,
    build_unknown_statement,
)
from termvisor.model.agent.signal import ProcessHint

# Originators of interactive threads. Other programs store threads in the same folder.
INTERACTIVE_ORIGINATORS = ("codex-tui", "codex_cli_rs")
_FILE_NAME = re.compile(rf"rollout-[\dT:-]+-({UUID_PATTERN})\.jsonl")


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
    table = _LINE_INTERPRETERS if record.hint.pid else _UNOWNED_LINE_INTERPRETERS
    at = min(parse_timestamp(line.get("timestamp")) or record.at, record.at)
    return apply_interpreter(table.get(kind), fields, record.at, AgentStatement(session=_parse_session(record), at=at))


def _parse_session(record: SourceRecord) -> str:
    match = _FILE_NAME.fullmatch(posixpath.basename(record.path))
    return match[1] if match else ""


def _read_session_meta(record: SourceRecord, fields: JsonObject) -> list[AgentStatement]:
    if get_str(fields, "originator") not in INTERACTIVE_ORIGINATORS or fields.get("thread_source", "user") != "user":
        return []
    hint = record.hint if record.hint.pid else ProcessHint(target=record.hint.target, cwd=get_str(fields, "cwd"))
    at = parse_timestamp(fields.get("timestamp")) or record.at
    payload = build_payload(version=get_str(fields, "cli_version"), transcript=record.path)
    session = get_str(fields, "id")
    return [AgentStatement(kind="note", session=session, hint=hint, at=min(at, record.at), payload=payload)]


def _read_task_complete(fields: JsonObject, now: int) -> AgentStatement:
    error = get_object(fields, "error")
    if not error:
        return AgentStatement(
            state="completed", payload=build_payload(last_message=get_str(fields, "last_agent_message"))
        )
    return build_code_error_statement(error.get("codex_error_info"), get_str(error, "message"), now)


def _read_token_count(fields: JsonObject, now: int) -> AgentStatement:
    info = get_object(fields, "info")
    window = get_int(info, "model_context_window")
    counts = build_usage_payload(get_object(info, "total_token_usage"), get_object(info, "last_token_usage"), window)
    limits = fields.get("rate_limits")
    return AgentStatement(kind="note", flags=build_window_flags(limits), payload=counts | build_window_payload(limits))


def _read_turn_context(fields: JsonObject, now: int) -> AgentStatement | None:
    model = get_str(fields, "model")
    return AgentStatement(kind="note", payload=build_payload(model=model)) if model else None


_UNOWNED_LINE_INTERPRETERS: EventTable = {"token_count": _read_token_count, "turn_context": _read_turn_context}
# Other types of lines contain the conversation, not the state.
_LINE_INTERPRETERS: EventTable = {
    **_UNOWNED_LINE_INTERPRETERS,
    "task_started": lambda fields, now: AgentStatement(
        state="running", payload=build_payload(context_size=get_int(fields, "model_context_window") or None)
    ),
    "task_complete": _read_task_complete,
    "turn_aborted": AgentStatement(state="idle"),
    "compacted": COMPACTION_END,
}

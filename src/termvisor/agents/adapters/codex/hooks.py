"""Hooks and the notify program.

The shared server runs them, so the pane that they name is that of the first Codex that started it, and the process is
the server: only the session and the folder are believed. A Codex without a server runs them itself; then its process
is named, and that is proof.
"""

from collections.abc import Callable

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex import error_codes, usage
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

TURN_COMPLETE_EVENT = "agent-turn-complete"
_TITLE_PROMPT = "Generate a concise, single-line task title"
"""How the prompt begins with which Codex asks its model for a title, in a thread of its own."""


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    line = parse_json_object(record.text)
    if line is None:
        return [build_unknown_statement(record.text)]
    told = get_object(line, "payload") or line
    event = get_str(told, "type") or get_str(told, "hook_event_name") or get_str(line, "event")
    read_one = _EVENT_READERS.get(event)
    if read_one is None:
        return [build_unknown_statement(event)]
    said = read_one(told, record.at)
    if said is None:
        return []
    session = get_str(told, "session_id") or get_str(told, "thread-id")
    hint = ProcessHint(target=record.hint.target, cwd=get_str(told, "cwd"), via=record.hint.pid)
    return add_context([said], session=session, hint=hint, at=_get_event_time(line, record))


def _get_event_time(line: JsonObject, record: SourceRecord) -> int:
    return min(parse_timestamp(line.get("at")), record.at)


def _read_session_start(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(
        kind="note",
        payload=build_payload(model=get_str(fields, "model"), transcript=get_str(fields, "transcript_path")),
    )


def _read_prompt(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", payload=build_payload(prompt=get_str(fields, "prompt")))


def _read_work(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", payload=_build_tool_payload(fields))


def _read_permission_request(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="waiting_approval", payload=_build_tool_payload(fields))


def _build_tool_payload(fields: JsonObject) -> dict[str, str | int | float | bool | None]:
    given = get_object(fields, "tool_input")
    return build_payload(
        tool=get_str(fields, "tool_name"), command=get_str(given, "command"), question=get_str(given, "description")
    )


def _read_model_answer(fields: JsonObject, now: int) -> AgentStatement:
    """The model's answer to one request. A failed one may be tried again, and then says so by the next request."""
    status, used = get_str(fields, "status"), get_object(fields, "token_usage")
    if status == "failed":
        words = get_str(fields, "error") or get_str(get_object(fields, "error"), "message")
        kind = error_codes.classify_error_message(words)
        return AgentStatement(
            state="error",
            flags=error_codes.build_error_flags(kind, words, now),
            payload=build_payload(error=kind, message=words),
        )
    if status == "cancelled":
        return AgentStatement(state="idle")
    about = build_payload(model=get_str(fields, "model"), context_tokens=get_int(used, "total_tokens"))
    return AgentStatement(
        kind="note", payload=about | usage.build_request_usage_payload(f"{get_str(fields, 'turn_id')}@{now}", used)
    )


def _read_stop(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(
        state="completed", payload=build_payload(last_message=get_str(fields, "last_assistant_message"))
    )


def _read_interrupt(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="idle")


def _read_pre_compact(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", flags=FlagUpdate(compacting=True))


def _read_post_compact(fields: JsonObject, now: int) -> AgentStatement:
    """One that a person asked for is the whole turn; another is only a pause in it."""
    is_all = get_str(fields, "trigger") == "manual"
    return AgentStatement(state="completed" if is_all else "running", flags=FlagUpdate(compacting=False))


def _read_session_end(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="unknown", reason="no_signal")


def _build_subtask_statement(fields: JsonObject, kind: str) -> AgentStatement | None:
    task = get_str(fields, "agent_id")
    return AgentStatement(kind="task_began" if kind == "began" else "task_ended", task=task) if task else None


def _read_turn_complete(fields: JsonObject, now: int) -> AgentStatement | None:
    prompts = fields.get("input-messages")
    first = prompts[0] if isinstance(prompts, list) and prompts else ""
    is_title = isinstance(first, str) and first.startswith(_TITLE_PROMPT)
    return (
        None
        if is_title
        else AgentStatement(
            state="completed", payload=build_payload(last_message=get_str(fields, "last-assistant-message"))
        )
    )


_EVENT_READERS: dict[str, Callable[[JsonObject, int], AgentStatement | None]] = {
    "SessionStart": _read_session_start,
    "UserPromptSubmit": _read_prompt,
    "PreModelRequest": _read_work,
    "PostModelRequest": _read_model_answer,
    "PreToolUse": _read_work,
    "PermissionRequest": _read_permission_request,
    "PostToolUse": _read_work,
    "PreCompact": _read_pre_compact,
    "PostCompact": _read_post_compact,
    "Stop": _read_stop,
    "Interrupt": _read_interrupt,
    "SessionEnd": _read_session_end,
    "SubagentStart": lambda told, _: _build_subtask_statement(told, "began"),
    "SubagentStop": lambda told, _: _build_subtask_statement(told, "ended"),
    TURN_COMPLETE_EVENT: _read_turn_complete,
}

"""Read events of Codex hooks and of its notify program.

The shared app-server runs them, so the pane they name is that of the Codex which started the server, and the process is
the server: only session and folder are reliable. A Codex without a server runs them itself, and then its process is
proof.
"""

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
from termvisor.agents.adapters.statements import (
    AgentStatement,
    EventInterpreter,
    add_context,
    build_payload,
    build_subtask_interpreter,
    build_unknown_statement,
)
from termvisor.model.agent.signal import FlagUpdate, ProcessHint

TURN_COMPLETE_EVENT = "agent-turn-complete"
_TITLE_PROMPT = "Generate a concise, single-line task title"
"""Start of the prompt with which Codex generates a title, in a separate thread."""


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    """Parse one line of the hook spool."""
    line = parse_json_object(record.text)
    if line is None:
        return [build_unknown_statement(record.text)]
    fields = get_object(line, "payload") or line
    event = get_str(fields, "type") or get_str(fields, "hook_event_name") or get_str(line, "event")
    read_event = _EVENT_READERS.get(event)
    if read_event is None:
        return [build_unknown_statement(event)]
    statement = read_event(fields, record.at)
    if statement is None:
        return []
    session = get_str(fields, "session_id") or get_str(fields, "thread-id")
    hint = ProcessHint(target=record.hint.target, cwd=get_str(fields, "cwd"), via=record.hint.pid)
    return add_context([statement], session=session, hint=hint, at=min(parse_timestamp(line.get("at")), record.at))


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
    tool_input = get_object(fields, "tool_input")
    return build_payload(
        tool=get_str(fields, "tool_name"),
        command=get_str(tool_input, "command"),
        question=get_str(tool_input, "description"),
    )


def _read_model_answer(fields: JsonObject, now: int) -> AgentStatement:
    """Read the model's answer to one request. If Codex retries a failed request, the next event is `running` again."""
    status, tokens = get_str(fields, "status"), get_object(fields, "token_usage")
    if status == "failed":
        message = get_str(fields, "error") or get_str(get_object(fields, "error"), "message")
        return error_codes.build_error_statement(error_codes.classify_error_message(message), message, now)
    if status == "cancelled":
        return AgentStatement(state="idle")
    payload = build_payload(model=get_str(fields, "model"), context_tokens=get_int(tokens, "total_tokens"))
    message_id = f"{get_str(fields, 'turn_id')}@{now}"
    return AgentStatement(kind="note", payload=payload | usage.build_request_usage_payload(message_id, tokens))


def _read_stop(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(
        state="completed", payload=build_payload(last_message=get_str(fields, "last_assistant_message"))
    )


def _read_interrupt(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="idle")


def _read_pre_compact(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", flags=FlagUpdate(compacting=True))


def _read_post_compact(fields: JsonObject, now: int) -> AgentStatement:
    # A manual compaction is the whole turn; an automatic one happens within a turn.
    is_turn = get_str(fields, "trigger") == "manual"
    return AgentStatement(state="completed" if is_turn else "running", flags=FlagUpdate(compacting=False))


def _read_session_end(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="unknown", reason="no_signal")


def _read_turn_complete(fields: JsonObject, now: int) -> AgentStatement | None:
    prompts = fields.get("input-messages")
    first = prompts[0] if isinstance(prompts, list) and prompts else ""
    if isinstance(first, str) and first.startswith(_TITLE_PROMPT):
        return None
    return AgentStatement(
        state="completed", payload=build_payload(last_message=get_str(fields, "last-assistant-message"))
    )


_EVENT_READERS: dict[str, EventInterpreter] = {
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
    "SubagentStart": build_subtask_interpreter("task_began", "agent_id"),
    "SubagentStop": build_subtask_interpreter("task_ended", "agent_id"),
    TURN_COMPLETE_EVENT: _read_turn_complete,
}

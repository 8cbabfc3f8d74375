"""Read events of Codex hooks and of its notify program.

The shared app-server runs them, so the pane they name is that of the Codex which started the server, and the process is
the server: only session and folder are reliable. A Codex without a server runs them itself, and then its process is
proof.
"""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.codex.error_codes import build_message_error_statement
from termvisor.agents.adapters.codex.usage import build_request_usage_payload
from termvisor.agents.adapters.json_access import (
    JsonObject,
    get_int,
    get_object,
    get_str,
    parse_json_object,
    parse_timestamp,
)
from termvisor.agents.adapters.statements import (
    COMPACTION_START,
    COMPLETED,
    NOTE,
    RUNNING,
    WAITING_APPROVAL,
    AgentStatement,
    EventTable,
    apply_interpreter,
    build_interpreter,
    build_payload,
    build_subtask_interpreter,
    build_unknown_statement,
)
from termvisor.model.agent.signal import FlagUpdate, ProcessHint

# Start of the prompt with which Codex generates a title, in a separate thread.
_TITLE_PROMPT = "Generate a concise, single-line task title"


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    """Parse one line of the hook spool."""
    line = parse_json_object(record.text)
    if line is None:
        return [build_unknown_statement(record.text)]
    fields = get_object(line, "payload") or line
    event = get_str(fields, "type") or get_str(fields, "hook_event_name") or get_str(line, "event")
    if event not in _EVENT_INTERPRETERS:
        return [build_unknown_statement(event)]
    context = AgentStatement(
        session=get_str(fields, "session_id") or get_str(fields, "thread-id"),
        hint=ProcessHint(target=record.hint.target, cwd=get_str(fields, "cwd"), via=record.hint.pid),
        at=min(parse_timestamp(line.get("at")), record.at),
    )
    return apply_interpreter(_EVENT_INTERPRETERS[event], fields, record.at, context)


def _read_model_answer(fields: JsonObject, now: int) -> AgentStatement:
    """Read the model's answer to one request. If Codex retries a failed request, the next event is `running` again."""
    status, tokens = get_str(fields, "status"), get_object(fields, "token_usage")
    if status == "failed":
        message = get_str(fields, "error") or get_str(get_object(fields, "error"), "message")
        return build_message_error_statement(message, now)
    if status == "cancelled":
        return AgentStatement(state="idle")
    payload = build_payload(model=get_str(fields, "model"), context_tokens=get_int(tokens, "total_tokens"))
    message_id = f"{get_str(fields, 'turn_id')}@{now}"
    return AgentStatement(kind="note", payload=payload | build_request_usage_payload(message_id, tokens))


def _read_post_compact(fields: JsonObject, now: int) -> AgentStatement:
    # A manual compaction is the whole turn; an automatic one happens within a turn.
    is_turn = get_str(fields, "trigger") == "manual"
    return AgentStatement(state="completed" if is_turn else "running", flags=FlagUpdate(compacting=False))


def _read_turn_complete(fields: JsonObject, now: int) -> AgentStatement | None:
    prompts = fields.get("input-messages")
    first = prompts[0] if isinstance(prompts, list) and prompts else ""
    # The notify program runs for the internal thread that generates a title as well.
    if isinstance(first, str) and first.startswith(_TITLE_PROMPT):
        return None
    return AgentStatement(
        state="completed", payload=build_payload(last_message=get_str(fields, "last-assistant-message"))
    )


_TOOL_FIELDS = {"tool": "tool_name", "command": "tool_input.command", "question": "tool_input.description"}
_WORK_INTERPRETER = build_interpreter(RUNNING, **_TOOL_FIELDS)
_EVENT_INTERPRETERS: EventTable = {
    # It fires with the first prompt, not at the start, so it does not mean idle.
    "SessionStart": build_interpreter(NOTE, model="model", transcript="transcript_path"),
    "UserPromptSubmit": build_interpreter(RUNNING, prompt="prompt"),
    "PreModelRequest": _WORK_INTERPRETER,
    "PostModelRequest": _read_model_answer,
    "PreToolUse": _WORK_INTERPRETER,
    "PermissionRequest": build_interpreter(WAITING_APPROVAL, **_TOOL_FIELDS),
    "PostToolUse": _WORK_INTERPRETER,
    "PreCompact": COMPACTION_START,
    "PostCompact": _read_post_compact,
    "Stop": build_interpreter(COMPLETED, last_message="last_assistant_message"),
    "Interrupt": AgentStatement(state="idle"),
    "SessionEnd": AgentStatement(state="unknown", reason="no_signal"),
    "SubagentStart": build_subtask_interpreter("task_began", "agent_id"),
    "SubagentStop": build_subtask_interpreter("task_ended", "agent_id"),
    "agent-turn-complete": _read_turn_complete,
}

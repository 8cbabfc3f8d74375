"""Read events of Codex hooks and of its notify program.

The shared app-server runs them, so they name the pane of the Codex that started the server, and the process of
the server. Only session and folder are reliable. A Codex without a server runs them itself, and then its process is
proof.
"""

from termvisor.agents.adapters import statements
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
from termvisor.model.agent.signal import FlagUpdate, ProcessHint

# Start of the prompt with which Codex generates a title in a separate thread.
_TITLE_PROMPT = "Generate a concise, single-line task title"


def read_hook(record: SourceRecord) -> list[statements.AgentStatement]:
    """Parse one line of the hook spool."""
    line = parse_json_object(record.text)
    if line is None:
        return [statements.build_unknown_statement(record.text)]
    fields = get_object(line, "payload") or line
    event = get_str(fields, "type") or get_str(fields, "hook_event_name") or get_str(line, "event")
    if event not in _EVENT_INTERPRETERS:
        return [statements.build_unknown_statement(event)]
    context = statements.AgentStatement(
        session=get_str(fields, "session_id") or get_str(fields, "thread-id"),
        hint=ProcessHint(target=record.hint.target, cwd=get_str(fields, "cwd"), via=record.hint.pid),
        at=min(parse_timestamp(line.get("at")), record.at),
    )
    return statements.apply_interpreter(_EVENT_INTERPRETERS[event], fields, record.at, context)


def _read_model_answer(fields: JsonObject, now: int) -> statements.AgentStatement:
    """Read the model's answer to one request. If Codex retries a failed request, the next event is `running` again."""
    status, tokens = get_str(fields, "status"), get_object(fields, "token_usage")
    if status == "failed":
        message = get_str(fields, "error") or get_str(get_object(fields, "error"), "message")
        return build_message_error_statement(message, now)
    if status == "cancelled":
        return statements.AgentStatement(state="idle")
    payload = statements.build_payload(model=get_str(fields, "model"), context_tokens=get_int(tokens, "total_tokens"))
    message_id = f"{get_str(fields, 'turn_id')}@{now}"
    return statements.AgentStatement(kind="note", payload=payload | build_request_usage_payload(message_id, tokens))


def _read_post_compact(fields: JsonObject, now: int) -> statements.AgentStatement:
    # A manual compaction is the whole turn; an automatic one happens within a turn.
    is_turn = get_str(fields, "trigger") == "manual"
    return statements.AgentStatement(state="completed" if is_turn else "running", flags=FlagUpdate(compacting=False))


def _read_turn_complete(fields: JsonObject, now: int) -> statements.AgentStatement | None:
    prompts = fields.get("input-messages")
    first = prompts[0] if isinstance(prompts, list) and prompts else ""
    # The notify program also runs for the internal thread that generates a title.
    if isinstance(first, str) and first.startswith(_TITLE_PROMPT):
        return None
    return statements.AgentStatement(
        state="completed", payload=statements.build_payload(last_message=get_str(fields, "last-assistant-message"))
    )


_TOOL_FIELDS = {"tool": "tool_name", "command": "tool_input.command", "question": "tool_input.description"}
_WORK_INTERPRETER = statements.build_interpreter(statements.RUNNING, **_TOOL_FIELDS)
_EVENT_INTERPRETERS: statements.EventTable = {
    # Fires with the first prompt, not at startup, so it does not mean idle.
    "SessionStart": statements.build_interpreter(statements.NOTE, model="model", transcript="transcript_path"),
    "UserPromptSubmit": statements.build_interpreter(statements.RUNNING, prompt="prompt"),
    "PreModelRequest": _WORK_INTERPRETER,
    "PostModelRequest": _read_model_answer,
    "PreToolUse": _WORK_INTERPRETER,
    "PermissionRequest": statements.build_interpreter(statements.WAITING_APPROVAL, **_TOOL_FIELDS),
    "PostToolUse": _WORK_INTERPRETER,
    "PreCompact": statements.COMPACTION_START,
    "PostCompact": _read_post_compact,
    "Stop": statements.build_interpreter(statements.COMPLETED, last_message="last_assistant_message"),
    "Interrupt": statements.AgentStatement(state="idle"),
    "SessionEnd": statements.AgentStatement(state="unknown", reason="no_signal"),
    "SubagentStart": statements.build_subtask_interpreter("task_began", "agent_id"),
    "SubagentStop": statements.build_subtask_interpreter("task_ended", "agent_id"),
    "agent-turn-complete": _read_turn_complete,
}

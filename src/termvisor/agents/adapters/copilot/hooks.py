"""Read Copilot hooks. They are incomplete: none fires for an interrupt, a denial or the final error.

`permissionRequest` also fires for tools that need no permission; `notification` reports that the dialog is shown.
"""

from termvisor.agents.adapters import statements
from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import build_error_flags, classify_error, extract_message
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.model.agent.state import StateName

_STATES_BY_NOTIFICATION: dict[str, StateName] = {
    "permission_prompt": "waiting_approval",
    "elicitation_dialog": "waiting_input",
}
_END_REASONS = {"user_exit": "manual", "abort": "manual", "complete": "completed", "error": "error"}


def read_hook(record: SourceRecord) -> list[statements.AgentStatement]:
    return statements.read_hook_event(record, _find_interpreter, _read_context)


def _find_interpreter(hook: statements.HookEvent) -> statements.EventInterpreter | statements.AgentStatement | None:
    # Events of a sub-agent do not change the state, except for permission requests.
    is_subtask = bool(get_str(hook.payload, "parentAgentId"))
    return HOOK_INTERPRETERS.get(hook.event) if not is_subtask or hook.event == "notification" else None


def _read_context(fields: JsonObject) -> statements.AgentStatement:
    session = get_str(fields, "parentAgentId") or get_str(fields, "sessionId")
    return statements.AgentStatement(
        session=session, payload=statements.build_payload(transcript=get_str(fields, "transcriptPath"))
    )


def _read_notification(fields: JsonObject, now: int) -> statements.AgentStatement | None:
    state = _STATES_BY_NOTIFICATION.get(get_str(fields, "notification_type"))
    if state is None:
        return None
    return statements.AgentStatement(state=state, payload=statements.build_payload(question=get_str(fields, "message")))


def _read_error(fields: JsonObject, now: int) -> statements.AgentStatement:
    message = get_str(get_object(fields, "error"), "message")
    kind = classify_error(message)
    # Copilot retries a recoverable error, so it is still working.
    state: StateName = "running" if fields.get("recoverable") is True else "error"
    return statements.AgentStatement(
        state=state,
        flags=build_error_flags(kind, message, now),
        payload=statements.build_payload(error=kind, message=extract_message(message)),
    )


_TOOL_INTERPRETER = statements.build_interpreter(statements.RUNNING, tool="toolName", command="toolArgs.command")
# The hooks to install, with their interpreters.
HOOK_INTERPRETERS: statements.EventTable = {
    # Fires with the first prompt, not at startup, so it does not mean idle.
    "sessionStart": statements.NOTE,
    "userPromptSubmitted": statements.build_interpreter(statements.PROMPT_ACCEPTED, prompt="prompt"),
    "preToolUse": _TOOL_INTERPRETER,
    "postToolUse": _TOOL_INTERPRETER,
    "postToolUseFailure": _TOOL_INTERPRETER,
    "notification": _read_notification,
    "errorOccurred": _read_error,
    "agentStop": statements.COMPLETED,
    "subagentStart": statements.build_subtask_interpreter("task_began", "agentId"),
    "subagentStop": statements.build_subtask_interpreter("task_ended", "agentId"),
    "preCompact": statements.COMPACTION_START,
    "sessionEnd": statements.build_session_end_interpreter(_END_REASONS),
}

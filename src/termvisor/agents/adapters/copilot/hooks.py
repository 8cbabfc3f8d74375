"""Read Copilot hooks. They are incomplete: none fires for an interrupt, a denial or the final error.

`permissionRequest` fires for tools that need no permission as well; `notification` reports that the dialog is shown.
"""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import build_error_flags, classify_error, extract_message
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.statements import (
    CLEARED_FLAGS,
    AgentStatement,
    EventInterpreter,
    HookEvent,
    build_payload,
    build_subtask_interpreter,
    read_hook_event,
)
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.agent.state import StateName

_STATES_BY_NOTIFICATION: dict[str, StateName] = {
    "permission_prompt": "waiting_approval",
    "elicitation_dialog": "waiting_input",
}
_END_REASONS = {"user_exit": "manual", "abort": "manual", "complete": "completed", "error": "error"}


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    return read_hook_event(record, _find_interpreter, _read_context)


def _find_interpreter(hook: HookEvent) -> EventInterpreter | None:
    # Events of a sub-agent do not change the state, except for permission requests.
    is_subtask = bool(get_str(hook.payload, "parentAgentId"))
    return HOOK_INTERPRETERS.get(hook.event) if not is_subtask or hook.event == "notification" else None


def _read_context(fields: JsonObject) -> AgentStatement:
    session = get_str(fields, "parentAgentId") or get_str(fields, "sessionId")
    return AgentStatement(session=session, payload=build_payload(transcript=get_str(fields, "transcriptPath")))


def _read_tool_use(fields: JsonObject, now: int) -> AgentStatement:
    command = get_str(get_object(fields, "toolArgs"), "command")
    return AgentStatement(state="running", payload=build_payload(tool=get_str(fields, "toolName"), command=command))


def _read_notification(fields: JsonObject, now: int) -> AgentStatement | None:
    state = _STATES_BY_NOTIFICATION.get(get_str(fields, "notification_type"))
    if state is None:
        return None
    return AgentStatement(state=state, payload=build_payload(question=get_str(fields, "message")))


def _read_error(fields: JsonObject, now: int) -> AgentStatement:
    message = get_str(get_object(fields, "error"), "message")
    kind = classify_error(message)
    # Copilot retries a recoverable error, so it is still working.
    state: StateName = "running" if fields.get("recoverable") is True else "error"
    return AgentStatement(
        state=state,
        flags=build_error_flags(kind, message, now),
        payload=build_payload(error=kind, message=extract_message(message)),
    )


def _read_prompt(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", flags=CLEARED_FLAGS, payload=build_payload(prompt=get_str(fields, "prompt")))


HOOK_INTERPRETERS: dict[str, EventInterpreter] = {
    "sessionStart": lambda fields, now: AgentStatement(kind="note"),
    "userPromptSubmitted": _read_prompt,
    "preToolUse": _read_tool_use,
    "postToolUse": _read_tool_use,
    "postToolUseFailure": _read_tool_use,
    "notification": _read_notification,
    "errorOccurred": _read_error,
    "agentStop": lambda fields, now: AgentStatement(state="completed"),
    "subagentStart": build_subtask_interpreter("task_began", "agentId"),
    "subagentStop": build_subtask_interpreter("task_ended", "agentId"),
    "preCompact": lambda fields, now: AgentStatement(state="running", flags=FlagUpdate(compacting=True)),
    "sessionEnd": lambda fields, now: AgentStatement(
        kind="note", payload=build_payload(end_reason=_END_REASONS.get(get_str(fields, "reason")))
    ),
}
"""The hooks to install, with their interpreters."""

"""Read Cursor hooks, as documented by the vendor. `stop` reports how a turn ended, including interrupts."""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import build_error_flags, classify_error
from termvisor.agents.adapters.json_access import JsonObject, get_str
from termvisor.agents.adapters.statements import (
    CLEARED_FLAGS,
    INTERRUPTED_PAYLOAD,
    AgentStatement,
    EventInterpreter,
    build_payload,
    build_subtask_interpreter,
    build_unknown_statement,
    read_hook_event,
)
from termvisor.model.agent.signal import FlagUpdate

_END_REASONS = {
    "completed": "completed",
    "aborted": "manual",
    "error": "error",
    "window_close": "manual",
    "user_close": "manual",
}


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    return read_hook_event(record, lambda hook: HOOK_INTERPRETERS.get(hook.event), _read_context)


def _read_context(fields: JsonObject) -> AgentStatement:
    payload = build_payload(model=get_str(fields, "model"), transcript=get_str(fields, "transcript_path"))
    return AgentStatement(session=get_str(fields, "conversation_id"), payload=payload)


def _read_prompt(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", flags=CLEARED_FLAGS, payload=build_payload(prompt=get_str(fields, "prompt")))


def _read_work(fields: JsonObject, now: int) -> AgentStatement:
    payload = build_payload(tool=get_str(fields, "tool_name"), command=get_str(fields, "command"))
    return AgentStatement(state="running", payload=payload)


def _read_stop(fields: JsonObject, now: int) -> AgentStatement:
    status, message = get_str(fields, "status"), get_str(fields, "error_message")
    if status == "completed":
        return AgentStatement(state="completed")
    if status == "aborted":
        return AgentStatement(state="idle", payload=INTERRUPTED_PAYLOAD)
    if status != "error":
        return build_unknown_statement(status)
    kind = classify_error(message)
    return AgentStatement(
        state="error", flags=build_error_flags(kind, message, now), payload=build_payload(error=kind, message=message)
    )


def _read_response(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="note", payload=build_payload(last_message=get_str(fields, "text")))


HOOK_INTERPRETERS: dict[str, EventInterpreter] = {
    "sessionStart": lambda fields, now: AgentStatement(state="idle", flags=CLEARED_FLAGS),
    "beforeSubmitPrompt": _read_prompt,
    "preToolUse": _read_work,
    "postToolUse": _read_work,
    "postToolUseFailure": _read_work,
    "afterShellExecution": _read_work,
    "afterAgentResponse": _read_response,
    "preCompact": lambda fields, now: AgentStatement(state="running", flags=FlagUpdate(compacting=True)),
    "subagentStart": build_subtask_interpreter("task_began", "subagent_id"),
    "subagentStop": build_subtask_interpreter("task_ended", "subagent_id"),
    "stop": _read_stop,
    "sessionEnd": lambda fields, now: AgentStatement(
        kind="note", payload=build_payload(end_reason=_END_REASONS.get(get_str(fields, "reason")))
    ),
}
"""The hooks to install, with their interpreters."""

"""Read Cursor hooks, as documented by the vendor. `stop` reports how a turn ended, including interrupts."""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import build_error_statement, classify_error
from termvisor.agents.adapters.json_access import JsonObject, get_str
from termvisor.agents.adapters.statements import (
    CLEARED_FLAGS,
    COMPACTION_START,
    COMPLETED,
    INTERRUPTED_PAYLOAD,
    NOTE,
    PROMPT_ACCEPTED,
    RUNNING,
    AgentStatement,
    EventTable,
    build_interpreter,
    build_payload,
    build_session_end_interpreter,
    build_subtask_interpreter,
    build_unknown_statement,
    read_hook_event,
)

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


def _read_stop(fields: JsonObject, now: int) -> AgentStatement:
    status, message = get_str(fields, "status"), get_str(fields, "error_message")
    if status == "completed":
        return COMPLETED
    if status == "aborted":
        return AgentStatement(state="idle", payload=INTERRUPTED_PAYLOAD)
    if status != "error":
        return build_unknown_statement(status)
    return build_error_statement(classify_error(message), message, now)


_WORK_INTERPRETER = build_interpreter(RUNNING, tool="tool_name", command="command")
# The hooks to install, with their interpreters.
HOOK_INTERPRETERS: EventTable = {
    "sessionStart": AgentStatement(state="idle", flags=CLEARED_FLAGS),
    "beforeSubmitPrompt": build_interpreter(PROMPT_ACCEPTED, prompt="prompt"),
    "preToolUse": _WORK_INTERPRETER,
    "postToolUse": _WORK_INTERPRETER,
    "postToolUseFailure": _WORK_INTERPRETER,
    "afterShellExecution": _WORK_INTERPRETER,
    "afterAgentResponse": build_interpreter(NOTE, last_message="text"),
    "preCompact": COMPACTION_START,
    "subagentStart": build_subtask_interpreter("task_began", "subagent_id"),
    "subagentStop": build_subtask_interpreter("task_ended", "subagent_id"),
    "stop": _read_stop,
    "sessionEnd": build_session_end_interpreter(_END_REASONS),
}

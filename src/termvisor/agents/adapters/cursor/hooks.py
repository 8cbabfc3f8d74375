"""Read Cursor hooks, as documented by the vendor. `stop` reports how a turn ended, including interrupts."""

from termvisor.agents.adapters import statements
from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.error_classifier import build_error_statement, classify_error
from termvisor.agents.adapters.json_access import JsonObject, get_str

_END_REASONS = {
    "completed": "completed",
    "aborted": "manual",
    "error": "error",
    "window_close": "manual",
    "user_close": "manual",
}


def read_hook(record: SourceRecord) -> list[statements.AgentStatement]:
    return statements.read_hook_event(record, lambda hook: HOOK_INTERPRETERS.get(hook.event), _read_context)


def _read_context(fields: JsonObject) -> statements.AgentStatement:
    payload = statements.build_payload(model=get_str(fields, "model"), transcript=get_str(fields, "transcript_path"))
    return statements.AgentStatement(session=get_str(fields, "conversation_id"), payload=payload)


def _read_stop(fields: JsonObject, now: int) -> statements.AgentStatement:
    status, message = get_str(fields, "status"), get_str(fields, "error_message")
    if status == "completed":
        return statements.COMPLETED
    if status == "aborted":
        return statements.AgentStatement(state="idle", payload=statements.INTERRUPTED_PAYLOAD)
    if status != "error":
        return statements.build_unknown_statement(status)
    return build_error_statement(classify_error(message), message, now)


_WORK_INTERPRETER = statements.build_interpreter(statements.RUNNING, tool="tool_name", command="command")
# The hooks to install, with their interpreters.
HOOK_INTERPRETERS: statements.EventTable = {
    "sessionStart": statements.AgentStatement(state="idle", flags=statements.CLEARED_FLAGS),
    "beforeSubmitPrompt": statements.build_interpreter(statements.PROMPT_ACCEPTED, prompt="prompt"),
    "preToolUse": _WORK_INTERPRETER,
    "postToolUse": _WORK_INTERPRETER,
    "postToolUseFailure": _WORK_INTERPRETER,
    "afterShellExecution": _WORK_INTERPRETER,
    "afterAgentResponse": statements.build_interpreter(statements.NOTE, last_message="text"),
    "preCompact": statements.COMPACTION_START,
    "subagentStart": statements.build_subtask_interpreter("task_began", "subagent_id"),
    "subagentStop": statements.build_subtask_interpreter("task_ended", "subagent_id"),
    "stop": _read_stop,
    "sessionEnd": statements.build_session_end_interpreter(_END_REASONS),
}

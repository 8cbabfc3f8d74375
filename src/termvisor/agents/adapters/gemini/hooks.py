"""Read Gemini CLI hooks.

`AfterAgent` ends every turn: completed, interrupted or failed. If it has no answer, these cannot be distinguished,
so the state is `unknown` and the screen decides. `PreCompress` fires before every model request; only a manual one is
a compression. The hooks around each chunk of the model stream are not used.
"""

from termvisor.agents.adapters import statements
from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str

_END_REASONS = {"exit": "manual", "logout": "manual"}
_QUESTION_TYPES = ("ask_user", "exit_plan_mode")


def read_hook(record: SourceRecord) -> list[statements.AgentStatement]:
    return statements.read_hook_event(record, lambda hook: HOOK_INTERPRETERS.get(hook.event), _read_context)


def _read_context(fields: JsonObject) -> statements.AgentStatement:
    return statements.AgentStatement(
        session=get_str(fields, "session_id"),
        payload=statements.build_payload(transcript=get_str(fields, "transcript_path")),
    )


def _read_permission_notification(fields: JsonObject, now: int) -> statements.AgentStatement | None:
    if get_str(fields, "notification_type") != "ToolPermission":
        return None
    details = get_object(fields, "details")
    is_question = get_str(details, "type") in _QUESTION_TYPES
    payload = statements.build_payload(
        question=get_str(details, "title"),
        command=get_str(details, "command"),
        message=get_str(fields, "message"),
        file=get_str(details, "filePath"),
    )
    return statements.AgentStatement(state="waiting_input" if is_question else "waiting_approval", payload=payload)


def _read_turn_end(fields: JsonObject, now: int) -> statements.AgentStatement:
    answer = get_str(fields, "prompt_response").strip()
    if answer in ("", "[no response text]"):
        return statements.AgentStatement(state="unknown", reason="unsupported_signal")
    return statements.AgentStatement(state="completed", payload=statements.build_payload(last_message=answer))


_TOOL_INTERPRETER = statements.build_interpreter(statements.RUNNING, tool="tool_name", command="tool_input.command")
# The hooks to install, with their interpreters.
HOOK_INTERPRETERS: statements.EventTable = {
    "SessionStart": statements.AgentStatement(state="idle", flags=statements.CLEARED_FLAGS),
    "BeforeAgent": statements.build_interpreter(statements.PROMPT_ACCEPTED, prompt="prompt"),
    "BeforeTool": _TOOL_INTERPRETER,
    "AfterTool": _TOOL_INTERPRETER,
    "Notification": _read_permission_notification,
    "AfterAgent": _read_turn_end,
    "PreCompress": lambda fields, now: statements.COMPACTION_START if get_str(fields, "trigger") == "manual" else None,
    # Fires three times with the same reason, which is harmless for a note.
    "SessionEnd": statements.build_session_end_interpreter(_END_REASONS),
}

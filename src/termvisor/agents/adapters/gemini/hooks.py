"""Read Gemini CLI hooks.

`AfterAgent` ends every turn, completed, interrupted or failed. Without an answer in it these cannot be distinguished,
so the state is `unknown` and the screen decides. `PreCompress` fires before every model request; only a manual one is
a compression. The hooks around each chunk of the model stream are not used.
"""

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.statements import (
    CLEARED_FLAGS,
    COMPACTION_START,
    PROMPT_ACCEPTED,
    RUNNING,
    AgentStatement,
    EventTable,
    build_interpreter,
    build_payload,
    build_session_end_interpreter,
    read_hook_event,
)

_END_REASONS = {"exit": "manual", "logout": "manual"}
_QUESTION_TYPES = ("ask_user", "exit_plan_mode")


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    return read_hook_event(record, lambda hook: HOOK_INTERPRETERS.get(hook.event), _read_context)


def _read_context(fields: JsonObject) -> AgentStatement:
    return AgentStatement(
        session=get_str(fields, "session_id"), payload=build_payload(transcript=get_str(fields, "transcript_path"))
    )


def _read_permission_notification(fields: JsonObject, now: int) -> AgentStatement | None:
    if get_str(fields, "notification_type") != "ToolPermission":
        return None
    details = get_object(fields, "details")
    is_question = get_str(details, "type") in _QUESTION_TYPES
    payload = build_payload(
        question=get_str(details, "title"),
        command=get_str(details, "command"),
        message=get_str(fields, "message"),
        file=get_str(details, "filePath"),
    )
    return AgentStatement(state="waiting_input" if is_question else "waiting_approval", payload=payload)


def _read_turn_end(fields: JsonObject, now: int) -> AgentStatement:
    answer = get_str(fields, "prompt_response").strip()
    if answer in ("", "[no response text]"):
        return AgentStatement(state="unknown", reason="unsupported_signal")
    return AgentStatement(state="completed", payload=build_payload(last_message=answer))


def _read_compression(fields: JsonObject, now: int) -> AgentStatement | None:
    return COMPACTION_START if get_str(fields, "trigger") == "manual" else None


_TOOL_INTERPRETER = build_interpreter(RUNNING, tool="tool_name", command="tool_input.command")
# The hooks to install, with their interpreters.
HOOK_INTERPRETERS: EventTable = {
    "SessionStart": AgentStatement(state="idle", flags=CLEARED_FLAGS),
    "BeforeAgent": build_interpreter(PROMPT_ACCEPTED, prompt="prompt"),
    "BeforeTool": _TOOL_INTERPRETER,
    "AfterTool": _TOOL_INTERPRETER,
    "Notification": _read_permission_notification,
    "AfterAgent": _read_turn_end,
    "PreCompress": _read_compression,
    # It fires three times with the same reason, which does no harm to a note.
    "SessionEnd": build_session_end_interpreter(_END_REASONS),
}

"""Read hooks, pane titles and notifications of Gemini CLI.

`AfterAgent` ends every turn, completed, interrupted or failed. Without an answer in it these cannot be distinguished,
so the state is `unknown` and the screen decides. `PreCompress` fires before every model request; only a manual one is
a compression. The hooks around each chunk of the model stream are not used.
"""

import re

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.adapters.json_access import JsonObject, get_object, get_str
from termvisor.agents.adapters.statements import (
    CLEARED_FLAGS,
    AgentStatement,
    EventInterpreter,
    build_payload,
    read_hook_event,
)
from termvisor.model.agent.signal import FlagUpdate
from termvisor.model.agent.state import StateName

_EMPTY_RESPONSE = "[no response text]"
_TITLE_PATTERN = re.compile(
    r"(?P<sign>[◇✦✋⏲])\s+(?P<words>Ready|Working…|Action Required|\S.{0,60}?)\s+\((?P<folder>.+)\)\s*"
)
_STATES_BY_SIGN: dict[str, StateName] = {"◇": "idle", "✦": "running", "✋": "waiting_approval", "⏲": "running"}
_STATES_BY_HEADING: dict[str, StateName] = {"Approval required": "waiting_approval", "Run finished": "completed"}
_END_REASONS = {"exit": "manual", "logout": "manual"}
_QUESTION_TYPES = ("ask_user", "exit_plan_mode")


def read_hook(record: SourceRecord) -> list[AgentStatement]:
    return read_hook_event(record, lambda hook: HOOK_INTERPRETERS.get(hook.event), _read_context)


def matches_title(title: str) -> bool:
    return _TITLE_PATTERN.fullmatch(title) is not None


def read_title(record: SourceRecord) -> list[AgentStatement]:
    match = _TITLE_PATTERN.fullmatch(record.text)
    return [AgentStatement(state=_STATES_BY_SIGN[match["sign"]], title=match["folder"])] if match else []


def read_notification(record: SourceRecord) -> list[AgentStatement]:
    """Parse a notification. It has the lowest rank, because none is sent when a question is answered."""
    heading, _, message = record.text.partition(" | ")
    state = _STATES_BY_HEADING.get(heading)
    return [AgentStatement(state=state, payload=build_payload(message=message))] if state is not None else []


def _read_context(fields: JsonObject) -> AgentStatement:
    return AgentStatement(
        session=get_str(fields, "session_id"), payload=build_payload(transcript=get_str(fields, "transcript_path"))
    )


def _read_prompt(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(state="running", flags=CLEARED_FLAGS, payload=build_payload(prompt=get_str(fields, "prompt")))


def _read_tool_use(fields: JsonObject, now: int) -> AgentStatement:
    command = get_str(get_object(fields, "tool_input"), "command")
    return AgentStatement(state="running", payload=build_payload(tool=get_str(fields, "tool_name"), command=command))


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
    if answer in ("", _EMPTY_RESPONSE):
        return AgentStatement(state="unknown", reason="unsupported_signal")
    return AgentStatement(state="completed", payload=build_payload(last_message=answer))


def _read_compression(fields: JsonObject, now: int) -> AgentStatement | None:
    is_manual = get_str(fields, "trigger") == "manual"
    return AgentStatement(state="running", flags=FlagUpdate(compacting=True)) if is_manual else None


def _read_session_end(fields: JsonObject, now: int) -> AgentStatement:
    return AgentStatement(kind="note", payload=build_payload(end_reason=_END_REASONS.get(get_str(fields, "reason"))))


HOOK_INTERPRETERS: dict[str, EventInterpreter] = {
    "SessionStart": lambda fields, now: AgentStatement(state="idle", flags=CLEARED_FLAGS),
    "BeforeAgent": _read_prompt,
    "BeforeTool": _read_tool_use,
    "AfterTool": _read_tool_use,
    "Notification": _read_permission_notification,
    "AfterAgent": _read_turn_end,
    "PreCompress": _read_compression,
    "SessionEnd": _read_session_end,
}
"""The hooks to install, with their interpreters."""

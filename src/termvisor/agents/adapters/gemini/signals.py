"""What Gemini's hooks, its title and its notifications say.

`AfterAgent` ends every turn: a good one, an interrupted one, and one that failed. Without an answer in it nobody knows
which, so it says `unknown` and leaves the word to the screen. `PreCompress` fires before every request to the model;
only the one that a person asked for means a compression. Hooks around each piece of the model's stream are not heard.
"""

import re

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.json_access import Json, inside, text
from termvisor.agents.adapters.statements import WORK_ANEW, Meaning, Said, heard, payload
from termvisor.model.agent.signal import FlagsTold
from termvisor.model.agent.state import StateName

_NOTHING_SAID = "[no response text]"
_TITLE = re.compile(r"(?P<sign>[◇✦✋⏲])\s+(?P<words>Ready|Working…|Action Required|\S.{0,60}?)\s+\((?P<folder>.+)\)\s*")
_SIGNS: dict[str, StateName] = {"◇": "idle", "✦": "running", "✋": "waiting_approval", "⏲": "running"}
_NOTICES: dict[str, StateName] = {"Approval required": "waiting_approval", "Run finished": "completed"}
_ENDS = {"exit": "manual", "logout": "manual"}
_QUESTIONS = ("ask_user", "exit_plan_mode")


def read(record: Record) -> list[Said]:
    """What a hook says."""
    return heard(record, lambda hook: HOOKS.get(hook.event), _framed)


def title_matches(title: str) -> bool:
    return _TITLE.fullmatch(title) is not None


def title(record: Record) -> list[Said]:
    found = _TITLE.fullmatch(record.text)
    return [Said(state=_SIGNS[found["sign"]], title=found["folder"])] if found else []


def notification(record: Record) -> list[Said]:
    """Nothing tells that a question was answered, so this counts least of all."""
    heading, _, message = record.text.partition(" | ")
    state = _NOTICES.get(heading)
    return [Said(state=state, payload=payload(message=message))] if state is not None else []


def _framed(told: Json) -> Said:
    return Said(session=text(told, "session_id"), payload=payload(transcript=text(told, "transcript_path")))


def _prompted(told: Json, now: int) -> Said:
    return Said(state="running", flags=WORK_ANEW, payload=payload(prompt=text(told, "prompt")))


def _tool(told: Json, now: int) -> Said:
    command = text(inside(told, "tool_input"), "command")
    return Said(state="running", payload=payload(tool=text(told, "tool_name"), command=command))


def _notified(told: Json, now: int) -> Said | None:
    if text(told, "notification_type") != "ToolPermission":
        return None
    details = inside(told, "details")
    is_question = text(details, "type") in _QUESTIONS
    asked = payload(
        question=text(details, "title"),
        command=text(details, "command"),
        message=text(told, "message"),
        file=text(details, "filePath"),
    )
    return Said(state="waiting_input" if is_question else "waiting_approval", payload=asked)


def _ended(told: Json, now: int) -> Said:
    answer = text(told, "prompt_response").strip()
    if answer in ("", _NOTHING_SAID):
        return Said(state="unknown", reason="unsupported_signal")
    return Said(state="completed", payload=payload(last_message=answer))


def _compressing(told: Json, now: int) -> Said | None:
    is_asked_for = text(told, "trigger") == "manual"
    return Said(state="running", flags=FlagsTold(compacting=True)) if is_asked_for else None


def _left(told: Json, now: int) -> Said:
    return Said(kind="note", payload=payload(end_reason=_ENDS.get(text(told, "reason"))))


HOOKS: dict[str, Meaning] = {
    "SessionStart": lambda told, now: Said(state="idle", flags=WORK_ANEW),
    "BeforeAgent": _prompted,
    "BeforeTool": _tool,
    "AfterTool": _tool,
    "Notification": _notified,
    "AfterAgent": _ended,
    "PreCompress": _compressing,
    "SessionEnd": _left,
}
"""The hooks to install, and what each of them means."""

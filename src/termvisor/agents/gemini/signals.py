"""What Gemini's hooks, its title and its notifications say.

`AfterAgent` ends every turn: a good one, an interrupted one, and one that failed. Without an answer in it nobody knows
which, so it says `unknown` and leaves the word to the screen. `PreCompress` fires before every request to the model;
only the one that a person asked for means a compression. Hooks around each piece of the model's stream are not heard.
"""

import re
from collections.abc import Callable, Sequence

from termvisor.agents.base import Record
from termvisor.agents.evidence import Hook, Said, hook_of, not_understood, payload, signals
from termvisor.agents.foreign import Json, inside, text
from termvisor.model.agent import StateName
from termvisor.model.signal import FlagsTold, Signal

AGENT = "gemini"
_NOTHING_SAID = "[no response text]"
_WORK_ANEW = FlagsTold(compacting=False, usage_limited=False, auth_needed=False)
_TITLE = re.compile(r"(?P<sign>[◇✦✋⏲])\s+(?P<words>Ready|Working…|Action Required|\S.{0,60}?)\s+\((?P<folder>.+)\)\s*")
_SIGNS: dict[str, StateName] = {"◇": "idle", "✦": "running", "✋": "waiting_approval", "⏲": "running"}
_NOTICES: dict[str, StateName] = {"Approval required": "waiting_approval", "Run finished": "completed"}
_ENDS = {"exit": "manual", "logout": "manual"}
_QUESTIONS = ("ask_user", "exit_plan_mode")


def read(record: Record) -> Sequence[Signal]:
    said = _READERS[record.source](record) if record.source in _READERS else None
    return signals(AGENT, record, [said]) if said is not None else ()


def title_matches(title: str) -> bool:
    return _TITLE.fullmatch(title) is not None


def _title(record: Record) -> Said | None:
    found = _TITLE.fullmatch(record.text)
    return Said(state=_SIGNS[found["sign"]], title=found["folder"]) if found else None


def _notification(record: Record) -> Said | None:
    """Nothing tells that a question was answered, so this counts least of all."""
    heading, _, message = record.text.partition(" | ")
    state = _NOTICES.get(heading)
    return Said(state=state, payload=payload(message=message)) if state is not None else None


def _hook(record: Record) -> Said | None:
    hook = hook_of(record)
    if hook is None:
        return not_understood(record.text)
    meaning = HOOKS.get(hook.event)
    said = meaning(hook.payload) if meaning is not None else None
    return _framed(said, hook) if said is not None else None


def _framed(said: Said, hook: Hook) -> Said:
    about = payload(event=hook.event, transcript=text(hook.payload, "transcript_path"))
    return Said(
        kind=said.kind,
        state=said.state,
        reason=said.reason,
        flags=said.flags,
        session=text(hook.payload, "session_id"),
        at=hook.at,
        payload={**about, **said.payload},
    )


def _prompted(told: Json) -> Said:
    return Said(state="running", flags=_WORK_ANEW, payload=payload(prompt=text(told, "prompt")))


def _tool(told: Json) -> Said:
    command = text(inside(told, "tool_input"), "command")
    return Said(state="running", payload=payload(tool=text(told, "tool_name"), command=command))


def _notified(told: Json) -> Said | None:
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


def _ended(told: Json) -> Said:
    answer = text(told, "prompt_response").strip()
    if answer in ("", _NOTHING_SAID):
        return Said(state="unknown", reason="unsupported_signal")
    return Said(state="completed", payload=payload(last_message=answer))


def _compressing(told: Json) -> Said | None:
    is_asked_for = text(told, "trigger") == "manual"
    return Said(state="running", flags=FlagsTold(compacting=True)) if is_asked_for else None


def _left(told: Json) -> Said:
    return Said(kind="note", payload=payload(end_reason=_ENDS.get(text(told, "reason"))))


HOOKS: dict[str, Callable[[Json], Said | None]] = {
    "SessionStart": lambda told: Said(state="idle", flags=_WORK_ANEW),
    "BeforeAgent": _prompted,
    "BeforeTool": _tool,
    "AfterTool": _tool,
    "Notification": _notified,
    "AfterAgent": _ended,
    "PreCompress": _compressing,
    "SessionEnd": _left,
}
"""The hooks to install, and what each of them means."""
_READERS: dict[str, Callable[[Record], Said | None]] = {
    "hook": _hook,
    "title": _title,
    "notification": _notification,
}

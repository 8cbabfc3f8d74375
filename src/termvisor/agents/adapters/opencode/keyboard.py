"""How to speak to opencode: over HTTP where it listens, by keys that fit one screen where it does not. Values only."""

import re
from typing import Literal

from msgspec import Struct

from termvisor.agents.adapters.dialog_options import Decision, Press, leaving
from termvisor.agents.adapters.opencode.process_match import RESUME
from termvisor.agents.adapters.opencode.screen_regions import panel_of, parts_of
from termvisor.agents.adapters.opencode.screen_rules import look
from termvisor.model.terminal.screen import Screen

CLEAR = ("C-u",)
SUBMIT = ("Enter",)
QUIT_WORDS = "/exit"
COMPACT_WORDS = "/compact"
_REQUEST = re.compile(r"per_[0-9A-Za-z]{8,64}")
_EMPTY = re.compile(r"Ask anything….*|")
INTERRUPT_PAUSE = 0.3
"""Seconds between the two keys: the first one must have been seen."""


class Call(Struct, frozen=True, kw_only=True):
    """An HTTP request to its server. An answer below 300 means that it was taken."""

    path: str
    body: dict[str, object]
    method: Literal["POST"] = "POST"


def reply(request: str, decision: Decision) -> Call | None:
    """Allow this once, or refuse, the permission with this id (payload `request` of the signal)."""
    if not _REQUEST.fullmatch(request):
        return None
    return Call(path=f"/permission/{request}/reply", body={"reply": "once" if decision == "allow" else "reject"})


def abort(session: str) -> Call | None:
    return Call(path=f"/session/{session}/abort", body={}) if RESUME.is_session(session) else None


def prompt(session: str, words: str) -> Call | None:
    body: dict[str, object] = {"parts": [{"type": "text", "text": words}]}
    return Call(path=f"/session/{session}/prompt_async", body=body) if RESUME.is_session(session) else None


def answer(screen: Screen, decision: Decision) -> Press | None:
    """To allow is the first choice, which a panel marks by colour alone: no key can say it surely. None."""
    seen, rows = look(screen), panel_of(screen)
    if seen.name != "permission_asked" or not rows or decision == "allow":
        return None
    return Press(keys=("Escape",), rule=seen.rule, rows=rows)


def interrupt(screen: Screen) -> Press | None:
    """Twice: the first one only arms the second."""
    seen = look(screen)
    is_armed = "esc again to interrupt" in " ".join(parts_of(screen).get("below", ()))
    is_at_work = seen.state == "running"
    keys = ("Escape",) if is_armed else ("Escape", "Escape")
    return Press(keys=keys, rule=seen.rule, pause=INTERRUPT_PAUSE) if is_at_work else None


def leave(screen: Screen) -> Press | None:
    return leaving(look(screen), composer(screen), ("C-c",))


def composer(screen: Screen) -> str | None:
    """Its last row names the model."""
    rows = parts_of(screen).get("composer")
    if not rows:
        return None
    return "" if is_composer_empty(screen) else "\n".join(rows[:-1]).strip()


def is_composer_empty(screen: Screen) -> bool | None:
    """None where there is no composer. Its last row names the model."""
    rows = parts_of(screen).get("composer")
    return None if not rows else all(_EMPTY.fullmatch(row) for row in rows[:-1])

"""How to speak to opencode: over HTTP where it listens, by keys that fit one screen where it does not. Values only."""

import re
from typing import Literal

from msgspec import Struct

from termvisor.agents.adapters.dialog_options import Decision, KeyPress, build_exit_press
from termvisor.agents.adapters.opencode.process_match import SESSION_RESUME
from termvisor.agents.adapters.opencode.screen_regions import find_panel_rows, split_regions
from termvisor.agents.adapters.opencode.screen_rules import classify_screen
from termvisor.model.terminal.screen import Screen

CLEAR_KEYS = ("C-u",)
SUBMIT_KEYS = ("Enter",)
QUIT_COMMAND = "/exit"
COMPACT_COMMAND = "/compact"
_PERMISSION_ID = re.compile(r"per_[0-9A-Za-z]{8,64}")
_EMPTY_COMPOSER_ROW = re.compile(r"Ask anything….*|")
INTERRUPT_KEY_PAUSE_S = 0.3
"""Seconds between the two keys: the first one must have been seen."""


class OpencodeRequest(Struct, frozen=True, kw_only=True):
    """An HTTP request to its server. An answer below 300 means that it was taken."""

    path: str
    body: dict[str, object]
    method: Literal["POST"] = "POST"


def build_permission_reply(permission_id: str, decision: Decision) -> OpencodeRequest | None:
    """Allow this once, or refuse, the permission with this id (payload `request` of the signal)."""
    if not _PERMISSION_ID.fullmatch(permission_id):
        return None
    return OpencodeRequest(
        path=f"/permission/{permission_id}/reply", body={"reply": "once" if decision == "allow" else "reject"}
    )


def build_abort_request(session: str) -> OpencodeRequest | None:
    return OpencodeRequest(path=f"/session/{session}/abort", body={}) if SESSION_RESUME.is_session(session) else None


def build_prompt_request(session: str, prompt_text: str) -> OpencodeRequest | None:
    body: dict[str, object] = {"parts": [{"type": "text", "text": prompt_text}]}
    return (
        OpencodeRequest(path=f"/session/{session}/prompt_async", body=body)
        if SESSION_RESUME.is_session(session)
        else None
    )


def find_answer_keys(screen: Screen, decision: Decision) -> KeyPress | None:
    """To allow is the first choice, which a panel marks by colour alone: no key can say it surely. None."""
    seen, rows = classify_screen(screen), find_panel_rows(screen)
    if seen.rule_name != "permission_asked" or not rows or decision == "allow":
        return None
    return KeyPress(keys=("Escape",), rule=seen.rule, rows=rows)


def find_interrupt_keys(screen: Screen) -> KeyPress | None:
    """Twice: the first one only arms the second."""
    seen = classify_screen(screen)
    is_armed = "esc again to interrupt" in " ".join(split_regions(screen).get("below", ()))
    is_at_work = seen.state == "running"
    keys = ("Escape",) if is_armed else ("Escape", "Escape")
    return KeyPress(keys=keys, rule=seen.rule, pause_s=INTERRUPT_KEY_PAUSE_S) if is_at_work else None


def find_exit_keys(screen: Screen) -> KeyPress | None:
    return build_exit_press(classify_screen(screen), read_composer(screen), ("C-c",))


def read_composer(screen: Screen) -> str | None:
    """Its last row names the model."""
    rows = split_regions(screen).get("composer")
    if not rows:
        return None
    return "" if is_composer_empty(screen) else "\n".join(rows[:-1]).strip()


def is_composer_empty(screen: Screen) -> bool | None:
    """None where there is no composer. Its last row names the model."""
    rows = split_regions(screen).get("composer")
    return None if not rows else all(_EMPTY_COMPOSER_ROW.fullmatch(row) for row in rows[:-1])

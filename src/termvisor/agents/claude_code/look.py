"""What the screen says. Each rule is one row of a table: where it looks, what it looks for, and what that means.

A dialog is believed only where it stands in for the composer and nothing is below it, so the agent's own prose, a
transcript in a pager, or what a dead agent left under a shell's prompt is none. What fits no rule is unknown.
"""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from termvisor.agents.base import Seen
from termvisor.agents.claude_code.layout import Layout, layout
from termvisor.agents.claude_code.trouble import ends_at
from termvisor.model.agent import StateName
from termvisor.model.event import Scalar
from termvisor.model.screen import Screen
from termvisor.model.signal import SILENT, FlagsTold

Where = Literal["dialog", "hint", "head", "footer", "block", "outcome"]
"""``hint``: a dialog's last row. ``head``: the last block's first row. ``block``: all of it. ``outcome``: what stands
before the line that tells a turn's end, or the block itself where there is no such line."""


class Rule(Struct, frozen=True, kw_only=True):
    """The first that fits decides. ``anchors`` must fit too, each in its own place."""

    id: str
    where: Where
    pattern: re.Pattern[str]
    anchors: tuple[tuple[Where, re.Pattern[str]], ...] = ()
    state: StateName
    flags: FlagsTold = SILENT
    confidence: float = 0.9


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_GLYPH = "[·✢✳✶✻✽*∗]"
_ENDED = _re(rf"^{_GLYPH} \S+ for [\dhms ]+ · done\b")
"""`✻ Churned for 13s · done 7:42 PM`: the verb is another each time."""
_ESC = _re(r"^ {0,4}(?:Enter to confirm · )?Esc to (?:cancel|exit|reject)\b")
_LAST = _re(r"^ +(?:❯ )?\d\. \S|\bEsc to cancel\b|\bctrl[+-]g to edit\b")
"""The end of a dialog that has no words on keys: its last option."""
_LIMIT_SAID = _re(r"^(?:  ⎿\s+|● API Error: .*)You've (?:hit|reached) your .{0,40}\blimit\b|^● Usage limit reached\b")
_LIMITED = FlagsTold(usage_limited=True)
_LOGIN = FlagsTold(auth_needed=True)

RULES: tuple[Rule, ...] = (
    Rule(
        id="trust_folder",
        where="dialog",
        pattern=_re(r"^ Quick safety check: Is this a project you created or one you trust\?"),
        anchors=(("hint", _ESC),),
        state="waiting_approval",
    ),
    Rule(
        id="use_api_key",
        where="dialog",
        pattern=_re(r"^ +Do you want to use this API key\?$"),
        anchors=(("hint", _ESC),),
        state="waiting_approval",
    ),
    Rule(
        id="permission",
        where="dialog",
        pattern=_re(r"^ Do you want to \S.*\?$"),
        anchors=(("hint", _re(r"^ Esc to cancel\b")),),
        state="waiting_approval",
    ),
    Rule(
        id="plan",
        where="dialog",
        pattern=_re(r"^ +(?:Exit plan mode\?|Would you like to proceed\?)$"),
        anchors=(("hint", _LAST),),
        state="waiting_approval",
    ),
    Rule(id="question", where="hint", pattern=_re(r"^Enter to select · .*Esc to cancel$"), state="waiting_input"),
    Rule(
        id="login",
        where="dialog",
        pattern=_re(r"^ +Select login method:"),
        anchors=(("hint", _LAST),),
        state="waiting_input",
        flags=_LOGIN,
    ),
    Rule(
        id="dialog_open",
        where="hint",
        pattern=_re(r"^ {0,4}(?:Enter to \S.* · )?Esc to (?:cancel|exit|close)$"),
        state="waiting_input",
        confidence=0.7,
    ),
    Rule(
        id="compacting",
        where="head",
        pattern=_re(rf"^{_GLYPH} Compacting conversation…"),
        state="running",
        flags=FlagsTold(compacting=True),
    ),
    Rule(
        id="retrying",
        where="head",
        pattern=_re(rf"^{_GLYPH} .* · Retrying in \d+s · attempt \d+/\d+$"),
        state="running",
    ),
    Rule(
        id="agents_running",
        where="head",
        pattern=_re(rf"^{_GLYPH} Waiting for \d+ .{{1,40}} to finish$"),
        state="running",
    ),
    Rule(id="spinner", where="head", pattern=_re(rf"^{_GLYPH} \S.*…(?: \(.*\))?$"), state="running"),
    Rule(id="interruptible", where="footer", pattern=_re(r"\besc to interrupt\b"), state="running"),
    Rule(id="agent_listed", where="footer", pattern=_re(r"^  [◯○] \S.* · [↑↓] "), state="running"),
    Rule(
        id="shell_running",
        where="head",
        pattern=_re(rf"^{_GLYPH} .* · \d+ .{{1,30}} still running$"),
        state="running",
    ),
    Rule(id="shell_listed", where="footer", pattern=_re(r"^  [⏸⏵].* · \d+ shells?\b"), state="running"),
    Rule(
        id="usage_limit",
        where="footer",
        pattern=_re(r"^  ⚠ Usage limit reached\b"),
        state="error",
        flags=_LIMITED,
    ),
    Rule(id="usage_limit_said", where="outcome", pattern=_LIMIT_SAID, state="error", flags=_LIMITED, confidence=0.8),
    Rule(
        id="login_needed",
        where="outcome",
        pattern=_re(
            r"^  ⎿\s+(?:Invalid API key|Missing API key|Not logged in|OAuth .{1,60}\brevoked|.*Please run /login)"
        ),
        state="error",
        flags=_LOGIN,
    ),
    Rule(id="api_error", where="outcome", pattern=_re(r"^(?:● |  ⎿\s+)API Error: "), state="error", confidence=0.8),
    Rule(id="context_full", where="outcome", pattern=_re(r"^  ⎿\s+Context limit reached\b"), state="error"),
    Rule(
        id="interrupted",
        where="outcome",
        pattern=_re(r"^  ⎿\s+(?:Interrupted · What should Claude do|User rejected )|^● User declined "),
        state="idle",
    ),
    Rule(id="turn_ended", where="head", pattern=_ENDED, state="completed"),
    Rule(id="at_rest", where="head", pattern=_re(r"^[❯●]"), state="idle", confidence=0.8),
    Rule(
        id="begun",
        where="block",
        pattern=_re(r"\bClaude Code v\d+\.\d+|^[▐▛▜▝▘▗▟█~▎]"),
        state="idle",
    ),
)
"""Which rule stands first matters: work before rest, and what is written in the dialog's own words before its shape."""


def look(screen: Screen) -> Seen:
    parts = layout(screen)
    places = {where: tuple(_rows(parts, where)) for where in ("dialog", "hint", "head", "footer", "block", "outcome")}
    for rule in RULES:
        wanted = ((rule.where, rule.pattern), *rule.anchors)
        if all(any(pattern.search(row) for row in places[where]) for where, pattern in wanted):
            return _seen(rule, places, screen.at)
    return Seen()


def _rows(parts: Layout, where: str) -> Iterator[str]:
    blocks = parts.blocks
    match where:
        case "dialog":
            yield from parts.dialog
        case "hint":
            yield from parts.dialog[-1:]
        case "footer":
            yield from parts.footer
        case "head":
            yield from (blocks[0][:1] if blocks else ())
        case "block":
            yield from (blocks[0] if blocks else ())
        case "outcome":
            yield from (row for block in _outcome(blocks) for row in block)


def _outcome(blocks: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Of the last turn at most: what was before its prompt is another one's."""
    if not blocks or not _ENDED.search(blocks[0][0]):
        return blocks[:1]
    is_prompt = len(blocks) > 1 and blocks[1][0].startswith("❯")
    return blocks[1:2] if is_prompt else blocks[1:3]


def _seen(rule: Rule, places: dict[str, tuple[str, ...]], now: int) -> Seen:
    flags = rule.flags
    if flags.usage_limited:
        ends = (ends_at(row, now) for row in (*places["outcome"], *places["footer"]))
        flags = FlagsTold(usage_limited=True, resets_at=next((at for at in ends if at is not None), None))
    details: dict[str, Scalar] = {}
    if rule.where in ("dialog", "hint"):
        details = {"question": _question(places["dialog"])}
    return Seen(state=rule.state, rule=rule.id, flags=flags, confidence=rule.confidence, details=details)


def _question(rows: tuple[str, ...]) -> str:
    """The row that asks."""
    asking = [row for row in rows if row.endswith("?")] or [row for row in rows if "? " in row] or rows[:1]
    return asking[-1].strip()[:200]

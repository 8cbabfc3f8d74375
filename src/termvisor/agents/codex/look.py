"""What Codex' screens say. The rules are data, in the order in which they are tried; the first that matches counts.

A screen that fits none is unknown. Text that is streamed has no sign of its own: it is work as long as the line is
missing with which a turn ends, and only the pane's moving proves it (see `termvisor.state.steady`).
"""

import re
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from termvisor.agents.base import Seen
from termvisor.agents.codex import trouble
from termvisor.agents.codex.layout import Layout, layout_of
from termvisor.agents.evidence import payload
from termvisor.model.agent import StateName
from termvisor.model.event import Scalar
from termvisor.model.screen import Screen
from termvisor.model.signal import SILENT, FlagsTold

Part = Literal["dialog", "around", "work", "last", "end", "whole"]
"""Of the screen; `around` is the dialog with the paragraph above it."""


class Rule(Struct, frozen=True, kw_only=True):
    """``pattern`` is looked for in one part of the screen; its named groups become details."""

    name: str
    state: StateName
    part: Part
    pattern: str
    flags: FlagsTold = SILENT
    error: str = ""
    confidence: float = 0.9


RULES = (
    Rule(
        name="approval_asked",
        state="waiting_approval",
        part="dialog",
        pattern=r"^\s+(?P<question>(?:Would you like to|Do you want to) .+\?)$(?:(?s:.*?)^\s+\$ (?P<command>.+)$)?",
    ),
    Rule(name="hooks_need_review", state="waiting_approval", part="dialog", pattern=r"^\s+Hooks need review$"),
    Rule(name="folder_not_trusted", state="waiting_approval", part="dialog", pattern=r"Do you trust the contents of"),
    Rule(
        name="question_asked",
        state="waiting_input",
        part="dialog",
        pattern=r"^\s+Question \d+/\d+.*\n\s+(?P<question>\S.*)$",
    ),
    Rule(
        name="limit_dialog",
        state="error",
        part="around",
        pattern=r"\A■ (?P<message>You.ve hit your usage limit(?s:.*?))^\s+Approaching rate limits$",
        flags=FlagsTold(usage_limited=True),
        error=trouble.USAGE_LIMIT,
    ),
    Rule(
        name="server_settings_differ",
        state="waiting_input",
        part="whole",
        pattern=r"^\s+Background server has incompatible feature settings$(?s:.*)^\s*›? *\d\. Cancel\Z",
    ),
    Rule(name="menu_open", state="waiting_input", part="dialog", pattern=r"^\s*› \d+\. "),
    Rule(
        name="sign_in_asked",
        state="waiting_input",
        part="whole",
        pattern=r"^\W*(?:Sign in with ChatGPT|Finish signing in|Enter this one-time code)",
        flags=FlagsTold(auth_needed=True),
    ),
    Rule(
        name="compacting",
        state="running",
        part="work",
        pattern=r"Compacting context",
        flags=FlagsTold(compacting=True),
    ),
    Rule(name="retrying", state="running", part="work", pattern=r"(?P<message>Reconnecting\.\.\. \d+/\d+)"),
    Rule(name="working", state="running", part="work", pattern=r"esc to interrupt\)"),
    Rule(name="interrupted", state="idle", part="last", pattern=r"^■ Conversation interrupted"),
    Rule(
        name="usage_limit_reached",
        state="error",
        part="last",
        pattern=r"^■ (?P<message>You.ve hit your usage limit(?s:.*))",
        flags=FlagsTold(usage_limited=True),
        error=trouble.USAGE_LIMIT,
    ),
    Rule(
        name="not_signed_in",
        state="error",
        part="last",
        pattern=r"^■ (?P<message>unexpected status 40[13] (?s:.*))",
        flags=FlagsTold(auth_needed=True),
        error=trouble.AUTH,
    ),
    Rule(
        name="rate_limited",
        state="error",
        part="last",
        pattern=r"^■ (?P<message>exceeded retry limit, last status: 429(?s:.*))",
        error="rate_limit",
    ),
    Rule(
        name="model_at_capacity",
        state="error",
        part="last",
        pattern=r"^■ (?P<message>Selected model is at capacity(?s:.*))",
        error="overloaded",
    ),
    Rule(
        name="high_demand",
        state="error",
        part="last",
        pattern=r"^■ (?P<message>We.re currently experiencing high demand(?s:.*))",
        error="server_error",
    ),
    Rule(
        name="stream_cut",
        state="error",
        part="last",
        pattern=r"^■ (?P<message>stream disconnected(?s:.*))",
        error="disconnected",
    ),
    Rule(name="failed", state="error", part="last", pattern=r"^■ (?P<message>(?s:.+))", error="other", confidence=0.8),
    Rule(name="turn_ended", state="completed", part="end", pattern=r"^  Worked for .+ • \d\d?:\d\d"),
    Rule(
        name="fresh_start",
        state="idle",
        part="whole",
        pattern=r"\A\s*>_ OpenAI Codex \(v[\d.]+\)(?P<rest>[^›•■]*)›[^›•■]*\Z",
    ),
    Rule(name="text_without_an_end", state="running", part="last", pattern=r"^[•›✔✗] ", confidence=0.5),
)
_MATCHES = tuple((rule, re.compile(rule.pattern, re.MULTILINE)) for rule in RULES)
_PARTS: dict[Part, Callable[[Layout, str], str]] = {
    "dialog": lambda layout, whole: "\n".join(layout.dialog),
    "around": lambda layout, whole: "\n".join((layout.last, *layout.dialog)) if layout.dialog else "",
    "work": lambda layout, whole: layout.work,
    "last": lambda layout, whole: layout.last if layout.composer is not None else "",
    "end": lambda layout, whole: layout.end if layout.composer is not None else "",
    "whole": lambda layout, whole: whole,
}


def look(screen: Screen) -> Seen:
    layout = layout_of(screen.rows)
    whole = "\n".join(filter(None, (row.rstrip() for row in screen.rows)))
    for rule, pattern in _MATCHES:
        if (found := pattern.search(_PARTS[rule.part](layout, whole))) is not None:
            return _seen(rule, found, screen.at)
    return Seen()


def _seen(rule: Rule, found: re.Match[str], now: int) -> Seen:
    words = {name: " ".join(value.split()) for name, value in found.groupdict().items() if value and name != "rest"}
    flags = trouble.flags_of(rule.error, words.get("message", ""), now) if rule.error else rule.flags
    details: dict[str, Scalar] = {**payload(error=rule.error), **payload(**words)}
    return Seen(state=rule.state, rule=rule.name, flags=flags, confidence=rule.confidence, details=details)

"""Detection rules: what a text means, for which agent, where it must appear, and what it triggers.

Rules are data (see `termvisor.detection.packs`), one file each. A rule without a matching and a non-matching example is
not loaded. `MatchTrace` describes how a rule was matched against a text, without the text.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import StateName

RuleScope = Literal[
    "line",  # one complete line, or one row of a full-screen program
    "stream",  # up to four complete lines, joined by newlines
    "screen",  # a named part of an agent's screen
    "transcript",  # a message in an agent's own transcript
    "mark",  # a mark in the output, written as `kind text`
]
Severity = Literal["info", "warning", "error", "critical"]
RuleFlag = Literal["usage_limited", "compacting", "auth_needed"]


class MatchingExample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text that the rule must match, and its captures."""

    text: str
    captures: dict[str, str] = {}
    version: str = ""
    """Version of the program that printed it."""


class NonMatchingExample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A similar text that the rule must not match."""

    text: str
    why: str = ""


class ScreenCondition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """For screen rules: a pattern that another part of the screen must match. Its named groups become details."""

    part: str
    pattern: str


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``pattern`` uses the dialect of `termvisor.regex`. Its named groups are the captures."""

    id: str
    """A stable id that never changes, such as `codex.usage.reached`."""
    pack: str = ""
    """Set by the loader."""
    since: str
    """The first version of Termvisor with this rule."""
    agent: str = ""
    """Applies only in panes of this agent; empty for all panes."""
    versions: str = ""
    """Agent versions, such as `>=0.150,<1`; empty for all."""
    scope: RuleScope
    anchors: tuple[str, ...] = ()
    """Literal texts for a cheap prefilter. Every match of the pattern contains at least one of them."""
    pattern: str
    part: str = ""
    """For screen rules: the part of the screen to match."""
    also: tuple[ScreenCondition, ...] = ()
    unless: tuple[ScreenCondition, ...] = ()
    """For screen rules: conditions that must not match."""
    details: dict[str, str] = {}
    """For screen rules: fixed details added to every match, besides the captures."""
    severity: Severity = "info"
    event: str = ""
    """The type of the stored event, such as `usage.reached`; empty if the rule only reports a state."""
    state: StateName | None = None
    flag: RuleFlag | None = None
    confidence: float = 0.9
    order: int = 100
    """For screen rules: the matching rule with the lowest order wins."""
    cooldown: float = 60.0
    """Seconds for which the same match, with the same captures, is not reported again in the same pane."""
    remedy: str = ""
    """The workflow that handles the detection."""
    why: str
    """What a match means, shown to the user."""
    hits: tuple[MatchingExample, ...]
    misses: tuple[NonMatchingExample, ...]


MAX_SPANS = 8
MAX_BYTES = 4096
TraceSpanKind = Literal["anchor", "regex", "context"]
TraceStageName = Literal["agent", "anchor", "regex", "captures"]


class TraceSpan(Struct, frozen=True, kw_only=True):
    """Character positions in the matched text. ``capture_keys`` are the captures at these positions."""

    start: int
    end: int
    kind: TraceSpanKind
    capture_keys: tuple[str, ...] = ()


class TraceStage(Struct, frozen=True, kw_only=True):
    """One stage of matching. ``hits`` are labels within the rule, such as `anchors[0]`."""

    stage: TraceStageName
    matched: bool
    hits: tuple[str, ...] = ()


class TraceBounds(Struct, frozen=True, kw_only=True):
    max_spans: int = MAX_SPANS
    max_bytes: int = MAX_BYTES
    truncated: bool = False
    truncated_fields: tuple[str, ...] = ()


class TraceRedaction(Struct, frozen=True, kw_only=True):
    """What the trace omits. Captured values are always omitted."""

    enabled: bool = True
    policy: Literal["omit_values"] = "omit_values"
    redacted_fields: tuple[str, ...] = ()


class MatchTrace(Struct, frozen=True, kw_only=True):
    rule_id: str
    spans: tuple[TraceSpan, ...] = ()
    extracted_keys: tuple[str, ...] = ()
    confidence: float | None = None
    eval_path: tuple[TraceStage, ...] = ()
    bounds: TraceBounds = TraceBounds()
    redaction: TraceRedaction = TraceRedaction()

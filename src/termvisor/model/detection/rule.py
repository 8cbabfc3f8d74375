"""A Rule says what a text means: which agent it is about, where the text must stand, and what follows from it.

Rules are data (see `termvisor.packs`), one file each. A rule without a text that it must find, and one that it must
leave alone, is not loaded.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import StateName

RuleScope = Literal[
    "line",  # one settled line, or one row of a repainting screen
    "stream",  # up to four settled lines, joined by newlines
    "screen",  # a named part of an agent's screen
    "transcript",  # what an agent wrote down of its own conversation
    "mark",  # an in-band sign, spelled `kind text`
]
Severity = Literal["info", "warning", "error", "critical"]
RuleFlag = Literal["usage_limited", "compacting", "auth_needed"]


class MatchingExample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text that the rule must find, and what it takes from it."""

    text: str
    captures: dict[str, str] = {}
    version: str = ""
    """Of the program that wrote it."""


class NonMatchingExample(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A text that looks like it and is not."""

    text: str
    why: str = ""


class ScreenCondition(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Of a screen: what stands in a part of it, too; its named groups are details."""

    part: str
    pattern: str


class Rule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``pattern`` is in the dialect of `termvisor.match`; its named groups are the captures."""

    id: str
    """Stable for ever: `codex.usage.reached`."""
    pack: str = ""
    """Filled in by the loader."""
    since: str
    """The version of the product in which it first stood."""
    agent: str = ""
    """Only in panes of this agent; empty for every pane."""
    versions: str = ""
    """Of the agent, such as `>=0.150,<1`; empty for all."""
    scope: RuleScope
    anchors: tuple[str, ...] = ()
    """Plain texts, one of which stands in whatever the pattern matches: a cheap first look."""
    pattern: str
    part: str = ""
    """Of a screen: the part that the pattern is looked for in."""
    also: tuple[ScreenCondition, ...] = ()
    unless: tuple[ScreenCondition, ...] = ()
    """Of a screen: what must not stand there."""
    details: dict[str, str] = {}
    """Of a screen: what is true whenever it fits, beside what the pattern captures."""
    severity: Severity = "info"
    event: str = ""
    """The type of the event that is stored, such as `usage.reached`; empty where it only tells a state."""
    state: StateName | None = None
    flag: RuleFlag | None = None
    confidence: float = 0.9
    order: int = 100
    """Of the rules for one screen: the first that fits decides."""
    cooldown: float = 60.0
    """Seconds for which the same thing, with the same captures, is not told again in the same pane."""
    remedy: str = ""
    """The workflow that answers it."""
    why: str
    """What it means, for a person."""
    hits: tuple[MatchingExample, ...]
    misses: tuple[NonMatchingExample, ...]

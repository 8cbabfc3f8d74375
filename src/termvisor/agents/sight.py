"""Screen rules as data. An adapter cuts its screen into named parts; the first rule that fits its part decides.

Where a text stands is what makes it mean something: an agent that prints the words of a dialog has none open. A
screen that fits no rule is unknown, never idle.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from termvisor.agents.base import Seen
from termvisor.agents.evidence import payload
from termvisor.agents.trouble import ends_at
from termvisor.model.agent import StateName
from termvisor.model.signal import SILENT, FlagsTold

Parts = Mapping[str, Sequence[str]]
"""Rows by the part of the screen in which they stand; a part that is not there has none."""
_TOP, _BOTTOM, _SIDE = re.compile(r"╭─+╮"), re.compile(r"╰─+╯"), re.compile(r"│ ?(.*?)\s*│")


class Rule(Struct, frozen=True, kw_only=True):
    """``pattern`` is looked for in the rows of a part; its named groups become details. ``also`` must be found too."""

    name: str
    state: StateName
    part: str
    pattern: str
    also: tuple[tuple[str, str], ...] = ()
    flags: FlagsTold = SILENT
    confidence: float = 0.9


class Sight:
    def __init__(self, rules: Sequence[Rule]):
        self.rules = tuple(rules)

    @cached_property
    def _compiled(self) -> list[tuple[Rule, re.Pattern[str], list[tuple[str, re.Pattern[str]]]]]:
        """When the first screen is seen: most programs never show one of this agent's."""
        return [
            (rule, re.compile(rule.pattern, re.M), [(part, re.compile(also, re.M)) for part, also in rule.also])
            for rule in self.rules
        ]

    def look(self, parts: Parts, at: int) -> Seen:
        texts = {name: "\n".join(rows) for name, rows in parts.items() if rows}
        for rule, pattern, others in self._compiled:
            found = pattern.search(texts.get(rule.part, ""))
            if found and all(also.search(texts.get(part, "")) for part, also in others):
                return _seen(rule, found, at)
        return Seen()


def shown_rows(rows: Sequence[str]) -> list[str]:
    """Without what nobody sees: trailing space, and rows below the last text."""
    shown = [row.rstrip() for row in rows]
    while shown and not shown[-1]:
        shown.pop()
    return shown


def box_of(rows: Sequence[str]) -> list[tuple[str, str]]:
    """A frame with which the screen ends: its rows that say something, as they are shown and without their sides."""
    if not rows or not _BOTTOM.fullmatch(rows[-1]):
        return []
    start = next((at for at in range(len(rows) - 1, -1, -1) if _TOP.fullmatch(rows[at])), len(rows))
    found = [(row, side[1]) for row in rows[start + 1 : -1] if (side := _SIDE.fullmatch(row))]
    return [(row, inner) for row, inner in found if inner.strip()]


def _seen(rule: Rule, found: re.Match[str], at: int) -> Seen:
    words = {name: " ".join(value.split()) for name, value in found.groupdict().items() if value}
    flags = rule.flags
    if flags.usage_limited and (message := words.get("message")):
        flags = FlagsTold(usage_limited=True, resets_at=ends_at(message, at))
    return Seen(state=rule.state, rule=rule.name, flags=flags, confidence=rule.confidence, details=payload(**words))

"""The one engine for screens. An adapter cuts its screen into named parts; the first rule that fits its part decides.

Where a text stands is what makes it mean something: an agent that prints the words of a dialog has none open. A
screen that fits no rule is unknown, never idle. The rules are data (see `termvisor.packs`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from termvisor.agents.adapters.adapter import Seen
from termvisor.agents.adapters.error_classifier import ends_at
from termvisor.agents.adapters.statements import payload
from termvisor.detection.packs.pattern_match import captures, compiled
from termvisor.detection.packs.screen_rules import screen_rules
from termvisor.detection.packs.version_range import fits
from termvisor.model.agent.signal import SILENT, FlagsTold
from termvisor.model.detection.rule import Also, Rule
from termvisor.model.terminal.screen import Screen

Parts = Mapping[str, Sequence[str]]
"""Rows by the part of the screen in which they stand; a part that is not there has none."""
RulesOf = Callable[[str], Sequence[Rule]]
"""The rules for the screens of an agent, in the order in which they are tried."""
TASKS = "tasks"
"""What a rule calls a count of sub-tasks."""
_MOST_TASKS, _DIGITS = 99, 10
_TOP, _BOTTOM, _SIDE = re.compile(r" ?╭─+╮"), re.compile(r" ?╰─+╯"), re.compile(r" ?│ ?(.*?)\s*│")


class Sight:
    """``ends_at`` reads from an agent's words when its usage limit ends."""

    def __init__(
        self,
        agent: str,
        parts_of: Callable[[Screen], Parts],
        *,
        ends_at: Callable[[str, int], int | None] = ends_at,
        rules: RulesOf = screen_rules,
    ):
        self.agent, self.parts_of = agent, parts_of
        self._ends_at, self._rules_of = ends_at, rules

    def with_rules(self, rules: RulesOf) -> "Sight":
        return Sight(self.agent, self.parts_of, ends_at=self._ends_at, rules=rules)

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Read when the first screen is seen: most programs never show one of this agent's."""
        return tuple(self._rules_of(self.agent))

    @cached_property
    def _compiled(self) -> list[tuple[Rule, list["_Place"], list["_Place"]]]:
        return [
            (rule, [_place(rule), *map(_place, rule.also)], [_place(one) for one in rule.unless]) for rule in self.rules
        ]

    @cached_property
    def _counts_tasks(self) -> bool:
        return any(TASKS in compiled(rule.pattern).groupindex for rule in self.rules)

    def look(self, screen: Screen, version: str = "") -> Seen:
        """``version`` is the agent's, where it is known: rules for others are left out then."""
        return self.judge(self.parts_of(screen), screen.at, version)

    def judge(self, parts: Parts, at: int, version: str = "") -> Seen:
        texts = {name: "\n".join(rows) for name, rows in parts.items() if rows}
        for rule, wanted, unwanted in self._compiled:
            if not fits(version, rule.versions) or any(_found(one, texts) for one in unwanted):
                continue
            found = [_found(one, texts) for one in wanted]
            if all(found):
                return self._seen(rule, _words(found), parts, at)
        return Seen()

    def _seen(self, rule: Rule, words: dict[str, str], parts: Parts, at: int) -> Seen:
        flags = SILENT
        if rule.flag == "usage_limited":
            flags = FlagsTold(usage_limited=True, resets_at=self._end(words.get("message", ""), parts, at))
        elif rule.flag is not None:
            flags = FlagsTold(**{rule.flag: True})
        return Seen(
            state=rule.state or "unknown",
            rule=rule.id,
            flags=flags,
            confidence=rule.confidence,
            details={**payload(**rule.details), **payload(**words)},
            tasks=_count(words.get(TASKS, "")) if self._counts_tasks else None,
        )

    def _end(self, message: str, parts: Parts, at: int) -> int | None:
        """Where the rule itself took no message, any row may tell it."""
        told = [message] if message else [row for rows in parts.values() for row in rows]
        return next((end for words in told if (end := self._ends_at(words, at)) is not None), None)


_Place = tuple[str, re.Pattern[str]]


def _place(of: Rule | Also) -> _Place:
    return of.part, compiled(of.pattern)


def _found(place: _Place, texts: Mapping[str, str]) -> re.Match[str] | None:
    part, pattern = place
    return pattern.search(texts.get(part, ""))


def _words(found: Sequence[re.Match[str] | None]) -> dict[str, str]:
    """What the rule takes from the screen."""
    return {name: value for match in found if match for name, value in captures(match).items()}


def _count(written: str) -> int:
    """What a screen says may be anything, so it is bounded."""
    return min(int(written), _MOST_TASKS) if written.isdecimal() and len(written) < _DIGITS else 0


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

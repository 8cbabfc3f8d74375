"""The one engine for screens. An adapter cuts its screen into named parts; the first rule that fits its part decides.

Where a text stands is what makes it mean something: an agent that prints the words of a dialog has none open. A
screen that fits no rule is unknown, never idle. The rules are data (see `termvisor.packs`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.error_classifier import find_reset_time
from termvisor.agents.adapters.statements import build_payload
from termvisor.detection.packs.pattern_match import compile_pattern, extract_captures
from termvisor.detection.packs.screen_rules import load_builtin_screen_rules
from termvisor.detection.packs.version_range import is_in_range
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate
from termvisor.model.detection.rule import Rule, ScreenCondition
from termvisor.model.terminal.screen import Screen

ScreenRegions = Mapping[str, Sequence[str]]
"""Rows by the part of the screen in which they stand; a part that is not there has none."""
ScreenRuleProvider = Callable[[str], Sequence[Rule]]
"""The rules for the screens of an agent, in the order in which they are tried."""
TASK_COUNT_GROUP = "tasks"
"""What a rule calls a count of sub-tasks."""
_MAX_TASKS, _MAX_COUNT_DIGITS = 99, 10
_BOX_TOP, _BOX_BOTTOM, _BOX_SIDE = re.compile(r" ?╭─+╮"), re.compile(r" ?╰─+╯"), re.compile(r" ?│ ?(.*?)\s*│")


class ScreenClassifier:
    """``ends_at`` reads from an agent's words when its usage limit ends."""

    def __init__(
        self,
        agent: str,
        split_regions: Callable[[Screen], ScreenRegions],
        *,
        reset_time_finder: Callable[[str, int], int | None] = find_reset_time,
        rule_provider: ScreenRuleProvider = load_builtin_screen_rules,
    ):
        self.agent, self.split_regions = agent, split_regions
        self._reset_time_finder, self._rule_provider = reset_time_finder, rule_provider

    def with_rules(self, rule_provider: ScreenRuleProvider) -> "ScreenClassifier":
        return ScreenClassifier(
            self.agent, self.split_regions, reset_time_finder=self._reset_time_finder, rule_provider=rule_provider
        )

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """Read when the first screen is seen: most programs never show one of this agent's."""
        return tuple(self._rule_provider(self.agent))

    @cached_property
    def _compiled_rules(self) -> list[tuple[Rule, list["_RegionPattern"], list["_RegionPattern"]]]:
        return [
            (
                rule,
                [_compile_region_pattern(rule), *map(_compile_region_pattern, rule.also)],
                [_compile_region_pattern(one) for one in rule.unless],
            )
            for rule in self.rules
        ]

    @cached_property
    def _has_task_counts(self) -> bool:
        return any(TASK_COUNT_GROUP in compile_pattern(rule.pattern).groupindex for rule in self.rules)

    def classify_screen(self, screen: Screen, version: str = "") -> ScreenReading:
        """``version`` is the agent's, where it is known: rules for others are left out then."""
        return self.classify_regions(self.split_regions(screen), screen.at, version)

    def classify_regions(self, regions: ScreenRegions, at: int, version: str = "") -> ScreenReading:
        texts = {name: "\n".join(rows) for name, rows in regions.items() if rows}
        for rule, wanted, unwanted in self._compiled_rules:
            if not is_in_range(version, rule.versions) or any(_search_region(one, texts) for one in unwanted):
                continue
            found = [_search_region(one, texts) for one in wanted]
            if all(found):
                return self._build_reading(rule, _collect_captures(found), regions, at)
        return ScreenReading()

    def _build_reading(
        self, rule: Rule, captures_by_name: dict[str, str], regions: ScreenRegions, at: int
    ) -> ScreenReading:
        flags = NO_FLAG_UPDATE
        if rule.flag == "usage_limited":
            flags = FlagUpdate(
                usage_limited=True, resets_at=self._find_reset_time(captures_by_name.get("message", ""), regions, at)
            )
        elif rule.flag is not None:
            flags = FlagUpdate(**{rule.flag: True})
        return ScreenReading(
            state=rule.state or "unknown",
            rule=rule.id,
            flags=flags,
            confidence=rule.confidence,
            details={**build_payload(**rule.details), **build_payload(**captures_by_name)},
            tasks=_parse_count(captures_by_name.get(TASK_COUNT_GROUP, "")) if self._has_task_counts else None,
        )

    def _find_reset_time(self, message: str, regions: ScreenRegions, at: int) -> int | None:
        """Where the rule itself took no message, any row may tell it."""
        told = [message] if message else [row for rows in regions.values() for row in rows]
        return next((end for words in told if (end := self._reset_time_finder(words, at)) is not None), None)


_RegionPattern = tuple[str, re.Pattern[str]]


def _compile_region_pattern(rule: Rule | ScreenCondition) -> _RegionPattern:
    return rule.part, compile_pattern(rule.pattern)


def _search_region(region_pattern: _RegionPattern, region_texts: Mapping[str, str]) -> re.Match[str] | None:
    part, pattern = region_pattern
    return pattern.search(region_texts.get(part, ""))


def _collect_captures(matches: Sequence[re.Match[str] | None]) -> dict[str, str]:
    """What the rule takes from the screen."""
    return {name: value for match in matches if match for name, value in extract_captures(match).items()}


def _parse_count(digits: str) -> int:
    """What a screen says may be anything, so it is bounded."""
    return min(int(digits), _MAX_TASKS) if digits.isdecimal() and len(digits) < _MAX_COUNT_DIGITS else 0


def trim_rows(rows: Sequence[str]) -> list[str]:
    """Without what nobody sees: trailing space, and rows below the last text."""
    shown = [row.rstrip() for row in rows]
    while shown and not shown[-1]:
        shown.pop()
    return shown


def find_bottom_box(rows: Sequence[str]) -> list[tuple[str, str]]:
    """A frame with which the screen ends: its rows that say something, as they are shown and without their sides."""
    if not rows or not _BOX_BOTTOM.fullmatch(rows[-1]):
        return []
    start = next((at for at in range(len(rows) - 1, -1, -1) if _BOX_TOP.fullmatch(rows[at])), len(rows))
    found = [(row, side[1]) for row in rows[start + 1 : -1] if (side := _BOX_SIDE.fullmatch(row))]
    return [(row, inner) for row, inner in found if inner.strip()]

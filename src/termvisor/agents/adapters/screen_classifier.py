"""Classify agent screens with rules: an adapter splits its screen into named regions, and the first matching rule wins.

A rule matches only within its region, because an agent may print the text of a dialog without showing one. A screen
that matches no rule is unknown, never idle. The rules are data (see `termvisor.detection.packs`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.adapters.error_classifier import find_reset_time
from termvisor.agents.adapters.screen_structure import ScreenRegions, split_regions
from termvisor.agents.adapters.statements import build_payload
from termvisor.detection.packs.loader import load_builtin_screen_rules
from termvisor.detection.packs.rule_match import compile_pattern, extract_captures, is_in_range
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate
from termvisor.model.detection.rule import Rule, ScreenCondition
from termvisor.model.terminal.screen import Screen

ScreenRuleProvider = Callable[[str], Sequence[Rule]]
"""Return the screen rules of an agent, in the order in which they are tried."""
ANY_AGENT = "any_agent"
"""The agent name of rules for structures that the screens of all agents share."""
# Name of the capture group that holds a number of sub-tasks.
TASK_COUNT_GROUP = "tasks"
# Limit for a number read from the screen, which may show anything.
_MAX_TASKS, _MAX_COUNT_DIGITS = 99, 10
# Rules with less confidence conclude from what a screen does not show.
_SURE = 0.9
_REFINEMENTS = (("idle", "running"), ("completed", "running"), ("waiting_input", "waiting_approval"))
_BOX_TOP, _BOX_BOTTOM, _BOX_SIDE = re.compile(r" ?╭─+╮"), re.compile(r" ?╰─+╯"), re.compile(r" ?│ ?(.*?)\s*│")

# All agents share these regions, and a screen of a remote agent is classified for each of them.
split_shared_regions = lru_cache(maxsize=4)(split_regions)
_RegionPattern = tuple[str, re.Pattern[str]]


class ScreenClassifier:
    """Classifier for one agent's screens. ``reset_time_finder`` parses from a message when a usage limit ends."""

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
        """Return a classifier for the same screens with other rules."""
        return ScreenClassifier(
            self.agent, self.split_regions, reset_time_finder=self._reset_time_finder, rule_provider=rule_provider
        )

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, loaded with the first screen: most agents are never used."""
        return tuple(self._rule_provider(self.agent))

    @cached_property
    def _compiled_rules(self) -> list[tuple[Rule, list[_RegionPattern], list[_RegionPattern]]]:
        return [
            (
                rule,
                [_compile_region_pattern(rule), *map(_compile_region_pattern, rule.also)],
                [_compile_region_pattern(condition) for condition in rule.unless],
            )
            for rule in self.rules
        ]

    @cached_property
    def _has_task_counts(self) -> bool:
        return any(TASK_COUNT_GROUP in compile_pattern(rule.pattern).groupindex for rule in self.rules)

    def classify_screen(self, screen: Screen, version: str = "") -> ScreenReading:
        """Return the state that a screen shows. Rules for other versions are skipped if ``version`` is not empty.

        A screen that no rule matches may still have a structure that all agents share. So may one on which a rule saw
        only the absence of work, or some dialog: another version may say both in other words.
        """
        reading = self.classify_regions(self.split_regions(screen), screen.at, version)
        if self.agent == ANY_AGENT or reading.confidence >= _SURE:
            return reading
        structure = self._structure_classifier.classify_screen(screen)
        is_refined = (reading.state, structure.state) in _REFINEMENTS
        return structure if reading.state == "unknown" or is_refined else reading

    @cached_property
    def _structure_classifier(self) -> "ScreenClassifier":
        return ScreenClassifier(ANY_AGENT, split_shared_regions, rule_provider=self._rule_provider)

    def classify_regions(self, regions: ScreenRegions, at: int, version: str = "") -> ScreenReading:
        """Return the reading of the first rule whose conditions all match."""
        texts = {name: "\n".join(rows) for name, rows in regions.items() if rows}
        for rule, required, excluded in self._compiled_rules:
            if not is_in_range(version, rule.versions) or any(_search_region(part, texts) for part in excluded):
                continue
            matches = [_search_region(part, texts) for part in required]
            if all(matches):
                return self._build_reading(rule, _collect_captures(matches), regions, at)
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
        """Return the reset time from the captured message, or from any row if the rule captures none."""
        texts = [message] if message else [row for rows in regions.values() for row in rows]
        return next((time for text in texts if (time := self._reset_time_finder(text, at)) is not None), None)


def _compile_region_pattern(rule: Rule | ScreenCondition) -> _RegionPattern:
    return rule.part, compile_pattern(rule.pattern)


def _search_region(region_pattern: _RegionPattern, region_texts: Mapping[str, str]) -> re.Match[str] | None:
    region, pattern = region_pattern
    return pattern.search(region_texts.get(region, ""))


def _collect_captures(matches: Sequence[re.Match[str] | None]) -> dict[str, str]:
    return {name: value for match in matches if match for name, value in extract_captures(match).items()}


def _parse_count(digits: str) -> int:
    return min(int(digits), _MAX_TASKS) if digits.isdecimal() and len(digits) < _MAX_COUNT_DIGITS else 0


def trim_rows(rows: Sequence[str]) -> list[str]:
    """Return the rows without trailing space and without blank rows at the end."""
    trimmed = [row.rstrip() for row in rows]
    while trimmed and not trimmed[-1]:
        trimmed.pop()
    return trimmed


def find_bottom_box(rows: Sequence[str]) -> list[tuple[str, str]]:
    """Return the non-blank rows of the box at the end of the screen, each as shown and without its borders."""
    if not rows or not _BOX_BOTTOM.fullmatch(rows[-1]):
        return []
    start = next((index for index in range(len(rows) - 1, -1, -1) if _BOX_TOP.fullmatch(rows[index])), len(rows))
    inside = [(row, match[1]) for row in rows[start + 1 : -1] if (match := _BOX_SIDE.fullmatch(row))]
    return [(row, text) for row, text in inside if text.strip()]

"""Both engines give the same rules for every line, those that ``re`` alone gives, however the lines are divided."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termvisor.detection.packs import load_packs
from termvisor.detection.packs.rule_match import WINDOW_LINES, extract_captures, find_match_ending_after
from termvisor.detection.scanner import RuleScanner
from termvisor.model.detection.rule import Rule
from termvisor.regex import EngineName
from tests.pattern_cache import get_pattern_cache_dir

RULES = [rule for rule in load_packs().rules if rule.scope in ("line", "stream")]
ENGINES: tuple[EngineName, ...] = ("hyperscan", "re2")
HITS = sorted({line for rule in RULES for hit in rule.hits for line in hit.text.split("\n")})
Found = list[tuple[int, str, dict[str, str]]]


@pytest.fixture(scope="module")
def scans() -> dict[str, RuleScanner]:
    return {engine: RuleScanner(RULES, engine=engine, cache=get_pattern_cache_dir()) for engine in ENGINES}


def by_hand(rules: Sequence[Rule], lines: Sequence[str]) -> Found:
    """As the contract says it, one rule and one line at a time."""
    found: Found = []
    for index, line in enumerate(lines):
        for rule in rules:
            reach = WINDOW_LINES if rule.scope == "stream" else 1
            window = "\n".join(lines[max(0, index - reach + 1) : index + 1])
            match = find_match_ending_after(rule, window, len(window) - len(line))
            taken = extract_captures(match) if match else None
            found += [(index, rule.id, taken)] if taken is not None else []
    return sorted(found, key=lambda one: one[:2])


def told(scan: RuleScanner, lines: Sequence[str], before: Sequence[str] = ()) -> Found:
    found = [(match.line, match.rule.id, match.captures) for match in scan.scan_lines(lines, before)]
    return sorted(found, key=lambda one: one[:2])


LINES = st.lists(st.one_of(st.sampled_from(HITS), st.text("ab ■⎿│1:\xa0é", max_size=12), st.just("")), max_size=12)


@settings(deadline=None)
@given(LINES)
def test_engines_agree_with_each_other_and_with_re(scans: dict[str, RuleScanner], lines: list[str]) -> None:
    expected = by_hand(RULES, lines)
    assert [told(scans[engine], lines) for engine in ENGINES] == [expected, expected]


@settings(deadline=None)
@given(LINES, st.integers(0, 12))
def test_a_border_between_batches_changes_nothing(scans: dict[str, RuleScanner], lines: list[str], cut: int) -> None:
    head, tail = lines[:cut], lines[cut:]
    later = [(line + len(head), *rest) for line, *rest in told(scans["hyperscan"], tail, head[-3:])]
    assert [*told(scans["hyperscan"], head), *later] == told(scans["hyperscan"], lines)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_rule_finds_its_hits_and_leaves_its_misses(scans: dict[str, RuleScanner], engine: str) -> None:
    scan = scans[engine]
    for rule in RULES:
        for hit in rule.hits:
            assert rule.id in {match.rule.id for match in scan.scan_lines(hit.text.split("\n"))}, (rule.id, hit.text)
        for miss in rule.misses:
            assert rule.id not in {match.rule.id for match in scan.scan_lines(miss.text.split("\n"))}, (
                rule.id,
                miss.text,
            )

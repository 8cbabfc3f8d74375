"""Both engines match the same rules as ``re`` on every line, for any batching of the lines."""

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
FoundMatches = list[tuple[int, str, dict[str, str]]]


@pytest.fixture(scope="module")
def scanners() -> dict[str, RuleScanner]:
    return {engine: RuleScanner(RULES, engine=engine, cache=get_pattern_cache_dir()) for engine in ENGINES}


def find_matches_with_re(rules: Sequence[Rule], lines: Sequence[str]) -> FoundMatches:
    """Match one rule and one line at a time, as the contract defines it."""
    found: FoundMatches = []
    for index, line in enumerate(lines):
        for rule in rules:
            window_lines = WINDOW_LINES if rule.scope == "stream" else 1
            window = "\n".join(lines[max(0, index - window_lines + 1) : index + 1])
            match = find_match_ending_after(rule, window, len(window) - len(line))
            captures = extract_captures(match) if match else None
            found += [(index, rule.id, captures)] if captures is not None else []
    return sorted(found, key=lambda one: one[:2])


def scan_for_matches(scanner: RuleScanner, lines: Sequence[str], before: Sequence[str] = ()) -> FoundMatches:
    found = [(match.line, match.rule.id, match.captures) for match in scanner.scan_lines(lines, before)]
    return sorted(found, key=lambda one: one[:2])


LINES = st.lists(st.one_of(st.sampled_from(HITS), st.text("ab ■⎿│1:\xa0é", max_size=12), st.just("")), max_size=12)


@settings(deadline=None)
@given(LINES)
def test_both_engines_find_the_same_matches_as_re(scanners: dict[str, RuleScanner], lines: list[str]) -> None:
    expected = find_matches_with_re(RULES, lines)
    assert [scan_for_matches(scanners[engine], lines) for engine in ENGINES] == [expected, expected]


@settings(deadline=None)
@given(LINES, st.integers(0, 12))
def test_matches_do_not_depend_on_batch_boundaries(
    scanners: dict[str, RuleScanner], lines: list[str], cut: int
) -> None:
    head, tail = lines[:cut], lines[cut:]
    later = [(line + len(head), *rest) for line, *rest in scan_for_matches(scanners["hyperscan"], tail, head[-3:])]
    assert [*scan_for_matches(scanners["hyperscan"], head), *later] == scan_for_matches(scanners["hyperscan"], lines)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_rule_matches_its_hits_and_not_its_misses(scanners: dict[str, RuleScanner], engine: str) -> None:
    scanner = scanners[engine]
    for rule in RULES:
        for hit in rule.hits:
            assert rule.id in {match.rule.id for match in scanner.scan_lines(hit.text.split("\n"))}, (rule.id, hit.text)
        for miss in rule.misses:
            assert rule.id not in {match.rule.id for match in scanner.scan_lines(miss.text.split("\n"))}, (
                rule.id,
                miss.text,
            )

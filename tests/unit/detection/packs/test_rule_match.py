"""Matches of one rule: anchors, captures and versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.detection.packs import load_packs
from termvisor.detection.packs.rule_match import (
    compile_pattern,
    find_banner_version,
    find_match,
    find_match_ending_after,
    is_in_range,
    is_valid_range,
)
from tests.unit.detection.packs.rule_factory import build_rule


def test_captures_are_the_matched_groups_each_on_one_line() -> None:
    found = find_match(build_rule(r"at (?P<at>\d+\s+\w+)|in (?P<hours>\d+)"), "at 3\n  pm")
    assert found is not None
    assert found.captures == {"at": "3 pm"}


def test_groups_with_a_numbered_suffix_share_one_capture() -> None:
    either = build_rule(r"(?P<left>\d+)% left|left: (?P<left__2>\d+)%")
    assert [find_match(either, text).captures for text in ("5% left", "left: 5%")] == [{"left": "5"}] * 2  # type: ignore[union-attr]


def test_without_an_anchor_nothing_is_found() -> None:
    assert find_match(build_rule("a+", anchors=("b", "c")), "aaa") is None
    assert find_match(build_rule("a+", anchors=("b", "c")), "aaac") is not None


def test_the_match_that_ends_after_an_offset_is_found() -> None:
    match = find_match_ending_after(build_rule(r"\d+"), "1\n22", 2)
    assert match is not None
    assert match.span() == (2, 4)


def test_character_classes_match_ascii_only() -> None:
    assert compile_pattern(r"^\w+$").search("é") is None


NUMBERS = st.lists(st.integers(0, 300), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("version", "wanted", "expected"),
    [
        ("0.166.0", ">=0.150,<1", True),
        ("0.149.9", ">=0.150,<1", False),
        ("1.0", "<1", False),
        ("1", "1.0.0", True),
        ("2.1.325 (Claude Code)", ">2.1.9", True),
        ("v2.1", "==2.1", True),
        ("2.1", "!=2.1", False),
        ("2.1", "<=2.1, >=2", True),
        ("", "<1", True),
        ("unknown", "<1", True),
        ("1.0", "", True),
        ("1.0", "soon", False),
    ],
)
def test_every_version_bound_must_hold(version: str, wanted: str, expected: bool) -> None:
    assert is_in_range(version, wanted) is expected


@pytest.mark.parametrize(
    ("text", "expected"), [("", True), (">=1,<2", True), ("1.2.3", True), ("~1", False), ("1,", False)]
)
def test_a_version_range_is_a_list_of_bounds(text: str, expected: bool) -> None:
    assert is_valid_range(text) is expected


@given(NUMBERS, NUMBERS)
def test_two_versions_are_older_equal_or_newer(one: list[int], other: list[int]) -> None:
    first, second = (".".join(map(str, numbers)) for numbers in (one, other))
    assert [is_in_range(first, f"{sign}{second}") for sign in ("<", "==", ">")].count(True) == 1
    assert is_in_range(first, f"<={second}") is not is_in_range(first, f">{second}")


@pytest.mark.parametrize(
    ("agent", "row", "version"),
    [
        ("claude_code", "╭─── Claude Code v2.0.76 ─────────────────────╮", "2.0.76"),
        ("claude_code", "● ╭─── Claude Code v2.0.76 ─────────────────────╮", ""),
        ("codex", "│ >_ OpenAI Codex (v0.77.0)                    │", "0.77.0"),
        ("gemini", "  ▝▜▄     Gemini CLI v0.33.0", "0.33.0"),
        ("copilot", "│  ╰─╯╰─╯  GitHub Copilot v1.0.39                │", "1.0.39"),
        ("codex", "  ▝▜▄     Gemini CLI v0.33.0", ""),
    ],
)
def test_a_banner_shows_the_version_of_its_agent(agent: str, row: str, version: str) -> None:
    assert find_banner_version(load_packs().rules, agent, ("", row, "", "> ")) == version

"""Checks of a rule against its examples and limits."""

import pytest

from termvisor.detection.packs.rule_checks import find_backtracking_risk, find_problems
from termvisor.model.detection.rule import MatchingExample, NonMatchingExample, Rule
from tests.unit.detection.packs.rule_factory import build_rule


@pytest.mark.parametrize("pattern", ["(a+)+$", "(?:a|b*)*c", "(?:x+y)+", r"(\s*,\s*){9,}", "(?:(?:a*)b){1,900}"])
def test_a_nested_repeat_is_refused(pattern: str) -> None:
    assert "repeats a repeat" in find_backtracking_risk(pattern)


@pytest.mark.parametrize("pattern", [".*a.*b.*c", r"[^,]*,[^,]*,\S*,", "(?:.*x)(?:.+y)(?s:.*)z"])
def test_three_repeats_of_anything_are_refused(pattern: str) -> None:
    assert "3 repeats" in find_backtracking_risk(pattern)


@pytest.mark.parametrize("pattern", ["a+b+c+", ".*a.*", "(?:a.*|b.*|c.*)d", "(?:ab){0,9}", r"^\d+ \w+ .{0,200} .*$"])
def test_other_patterns_are_accepted(pattern: str) -> None:
    assert find_backtracking_risk(pattern) == ""


def describe_problems(one: Rule) -> str:
    return "; ".join(f"{key}: {reason}" for key, reason, _ in find_problems(one))


@pytest.mark.parametrize(
    ("pattern", "hit", "miss", "reason"),
    [
        ("(", "a", "b", "pattern: cannot be used"),
        ("a*", "a", "b", "matches the empty text"),
        ("a(?=b)", "ab", "c", "look-around"),
        (r"(a)\1", "aa", "c", "back-references"),
        ("(a+)+$", "a", "b", "repeats a repeat"),
        ("a{3000}", "a", "b", "parts"),
        ("^a$", "b", "c", "hit: does not match: 'b'"),
        ("(?P<x>a)", "a", "c", "gives the captures {'x': 'a'}, not {}"),
        ("^a", "a", "ab", "miss: matches, and must not: 'ab'"),
        ("a", "a\nb", "c", "has 2 lines"),
    ],
)
def test_a_rule_that_fails_its_examples_is_a_problem(pattern: str, hit: str, miss: str, reason: str) -> None:
    assert reason in describe_problems(
        build_rule(pattern, hits=(MatchingExample(text=hit),), misses=(NonMatchingExample(text=miss),))
    )


def test_a_stream_rule_sees_four_lines() -> None:
    texts = ["a\nb\nc\nd", "a\nb\nc\nd\ne"]
    wrong = [
        describe_problems(
            build_rule("a", scope="stream", hits=(MatchingExample(text=text),), misses=(NonMatchingExample(text="x"),))
        )
        for text in texts
    ]
    assert wrong[0] == ""
    assert "has 5 lines" in wrong[1]


def test_a_hit_without_an_anchor_is_a_problem() -> None:
    assert "none of the anchors" in describe_problems(
        build_rule("a", anchors=("zz",), hits=(MatchingExample(text="a"),))
    )


def test_a_rule_that_passes_its_examples_has_no_problem() -> None:
    assert (
        describe_problems(
            build_rule(
                "(?P<x>a)",
                hits=(MatchingExample(text="a", captures={"x": "a"}),),
                misses=(NonMatchingExample(text="b"),),
            )
        )
        == ""
    )

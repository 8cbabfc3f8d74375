"""Relaxed patterns for the prefilter."""

import re

import pytest

from termvisor.detection.packs import load_packs
from termvisor.regex.relax import find_selective_part, relax_pattern


@pytest.mark.parametrize(
    ("pattern", "loose"),
    [
        ("a{2,8}", "a{2,8}"),
        ("a{0,9}b", "a*b"),
        ("a{1,200}?b", "a+?b"),
        ("a{3,}", "a+"),
        ("a{3}", "a{3}"),
        ("a{200}b", "a+b"),
        ("a{}", "a{}"),
        ("a{,}", "a*"),
        (r"a\s*$", "a"),
        ("a$", "a"),
        (r"^\s*a", "a"),
        (r"^\s{0,4}a", "a"),
        (r"^\sa", r"^\sa"),
        (r"a\$", r"a\$"),
        (r"[{1,99}]\{1,99}", r"[{1,99}]\{1,99}"),
        ("(?:a{,40}b){0,6}", "(?:a*b){0,6}"),
    ],
)
def test_long_counts_are_relaxed(pattern: str, loose: str) -> None:
    assert relax_pattern(pattern) == loose


def test_a_relaxed_pattern_matches_whatever_the_rule_matches() -> None:
    for rule in load_packs().rules:
        for hit in rule.hits:
            assert re.search(relax_pattern(rule.pattern), hit.text, re.MULTILINE | re.ASCII), rule.id


PARTS = [
    (r"^\w+: .*No space", "No space"),
    (r"^\w+: [^\n]+?No space\b", r"No space\b"),
    (r"^\w+: .{3,}No space", "No space"),
    (r"^(?:\w+: .*No space|ENOSPC)!", "(?:No space|ENOSPC)!"),
    (r"a.*b.*No space", "No space"),
    (r"^\w+: .*(?P<what>full|empty) disk", "(?P<what>full|empty) disk"),
    (r"^\w+: .*\bx\.y/z", r"\bx\.y/z"),
]
WHOLE = [
    "panic: .*in thread",
    r"^\w+: .*",
    r"^\w+: .*bad",
    r"^\w+: .*(?:No space)?",
    r"^\w+: .*(?:No space|)",
    r"^\w+: .*a+b+c+d+",
    r"^(?:\w+: .*No space)?!",
    r"^(?:x|.*No space)",
    r"^\w+: .{0,9}No space",
    r"^\w+: [^:]*No space",
    r"^\w+: [.*]No space",
    r"^\w+: \.*No space",
    r"(?i)^\w+: .*No space",
    r"^\w+: (?=.*No space)",
    "(" * 3000 + "a.*No space" + ")" * 3000,
    "(a.*No space",
    "a.*No space)",
]


@pytest.mark.parametrize(("pattern", "part"), PARTS)
def test_the_part_after_a_wildcard_is_used_alone(pattern: str, part: str) -> None:
    assert find_selective_part(pattern) == part


@pytest.mark.parametrize("pattern", WHOLE)
def test_a_pattern_with_a_selective_start_or_an_unselective_end_stays_complete(pattern: str) -> None:
    assert find_selective_part(pattern) == pattern

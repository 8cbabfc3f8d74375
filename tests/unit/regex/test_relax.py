import re

import pytest

from termvisor.detection.packs import load_packs
from termvisor.regex.relax import relax_pattern


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
def test_long_counts_are_given_up(pattern: str, loose: str) -> None:
    assert relax_pattern(pattern) == loose


def test_a_loose_pattern_finds_whatever_the_rule_finds() -> None:
    for rule in load_packs().rules:
        for hit in rule.hits:
            assert re.search(relax_pattern(rule.pattern), hit.text, re.MULTILINE | re.ASCII), rule.id

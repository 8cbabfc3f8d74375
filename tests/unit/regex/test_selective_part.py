"""The selective part of a pattern."""

import pytest

from termvisor.regex.selective_part import find_selective_part

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
def test_a_pattern_whose_begin_tells_more_or_whose_end_tells_little_stays_whole(pattern: str) -> None:
    assert find_selective_part(pattern) == pattern

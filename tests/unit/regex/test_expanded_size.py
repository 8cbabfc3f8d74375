"""The expanded size of a pattern: nested counted repeats multiply."""

import time

import pytest

from termvisor.errors import ConfigError
from termvisor.redaction.ruleset import BUILTIN_KINDS
from termvisor.regex import compile_patterns
from termvisor.regex.expanded_size import MAX_EXPANDED_SIZE, compute_expanded_size

WEIGHTS = [
    ("abc", 3),
    (r"a\.[x-z]", 3),
    ("a{10}", 10),
    ("ba{2,30}c", 32),
    ("a{5,}", 6),
    ("a{,7}", 7),
    ("(ab){10}", 20),
    ("(?:a{10}b){10}", 110),
    ("(?P<name>(a{10}){10}){10}", 1000),
    ("(?i:ab)+c*", 3),
    ("[]{9}]", 1),
    (r"\{9}", 3),
    ("a{x}", 4),
    ("a{" + "9" * 5000 + "}", 999_999_999),
    (")(", 1),
]


@pytest.mark.parametrize(("pattern", "expected"), WEIGHTS)
def test_counted_repeats_are_written_out(pattern: str, expected: int) -> None:
    assert compute_expanded_size(pattern) == expected


@pytest.mark.parametrize("pattern", ["a{1,99999}", "((x{100}){100}){100}", r"key [a-f]{10000}", r"(\w{1,100} ){100}"])
def test_a_pattern_that_would_take_long_to_compile_is_refused_at_once(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(ConfigError, match=f"the limit is {MAX_EXPANDED_SIZE}"):
        compile_patterns({"custom_1": pattern})
    assert time.process_time() - began < 1


def test_every_kind_of_ours_is_light() -> None:
    assert max(compute_expanded_size(kind.build_engine_pattern()) for kind in BUILTIN_KINDS) < MAX_EXPANDED_SIZE

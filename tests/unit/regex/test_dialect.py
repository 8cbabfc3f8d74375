"""Translation of Python patterns for the engines."""

import time

import pytest

from termvisor.errors import ConfigError
from termvisor.redaction.ruleset import BUILTIN_KINDS
from termvisor.regex import compile_patterns, dialect
from termvisor.regex.dialect import MAX_EXPANDED_SIZE, compute_expanded_size


@pytest.mark.parametrize(
    ("pattern", "common"),
    [
        ("(?P<a>x)(?P<b_2>y)", "(x)(y)"),
        (r"\(?P<a>x", r"\(?P<a>x"),
        ("[(?P<a>]", "[(?P<a>]"),
        (r"\Aa\Z", "^a$"),
        (r"\\A", r"\\A"),
        ("a{,3}", "a{0,3}"),
        (r"a\{,3}", r"a\{,3}"),
        ("[{,3}]", "[{,3}]"),
        (r"\v[\v]", r"\x0b[\x0b]"),
        ("\\u2502[\\u2503x]", r"\x{2502}[\x{2503}x]"),
    ],
)
def test_a_pattern_is_translated_to_the_common_form(pattern: str, common: str):
    assert dialect.to_common_dialect(pattern) == common


def test_spaces_are_escaped_inside_and_outside_of_classes():
    assert dialect.expand_space_classes(r"\s[\s,]") == r"[\t-\r ][\t-\r ,]"
    assert dialect.expand_space_classes(r"\\s") == r"\\s"


@pytest.mark.parametrize(
    ("pattern", "reason"), [("(", "unterminated"), ("x*", "empty"), ("[[:a:]]", "nested"), ("(?i)abc", None)]
)
def test_an_unsupported_pattern_has_a_reason(pattern: str, reason: str | None):
    found = dialect.find_pattern_problem(pattern)
    assert (reason or "") in (found or "")
    assert (found is None) == (reason is None)


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
def test_the_expanded_size_includes_counted_repeats(pattern: str, expected: int) -> None:
    assert compute_expanded_size(pattern) == expected


@pytest.mark.parametrize("pattern", ["a{1,99999}", "((x{100}){100}){100}", r"key [a-f]{10000}", r"(\w{1,100} ){100}"])
def test_a_pattern_that_would_take_long_to_compile_is_refused_at_once(pattern: str) -> None:
    began = time.process_time()
    with pytest.raises(ConfigError, match=f"the limit is {MAX_EXPANDED_SIZE}"):
        compile_patterns({"custom_1": pattern})
    assert time.process_time() - began < 1


def test_every_built_in_kind_has_a_small_expanded_size() -> None:
    assert max(compute_expanded_size(kind.build_engine_pattern()) for kind in BUILTIN_KINDS) < MAX_EXPANDED_SIZE

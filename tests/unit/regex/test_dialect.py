"""Translation of Python patterns for the engines."""

import pytest

from termvisor.regex import dialect


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
def test_a_pattern_is_put_in_the_common_form(pattern: str, common: str):
    assert dialect.to_common_dialect(pattern) == common


def test_spaces_are_spelled_out_in_and_outside_of_classes():
    assert dialect.expand_space_classes(r"\s[\s,]") == r"[\t-\r ][\t-\r ,]"
    assert dialect.expand_space_classes(r"\\s") == r"\\s"


@pytest.mark.parametrize(
    ("pattern", "why"), [("(", "unterminated"), ("x*", "empty"), ("[[:a:]]", "nested"), ("(?i)abc", None)]
)
def test_a_check_says_why_not(pattern: str, why: str | None):
    found = dialect.find_pattern_problem(pattern)
    assert (why or "") in (found or "")
    assert (found is None) == (why is None)

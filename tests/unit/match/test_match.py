"""How patterns are shared out between the engines."""

from termvisor.match import compile_patterns

TOO_LONG_FOR_RE2 = "a{1500}"


def test_no_patterns_match_nothing():
    matcher = compile_patterns({})
    assert matcher.ids(b"anything") == frozenset()
    assert matcher.lines(b"any\nthing") == []


def test_auto_takes_hyperscan_where_it_is_there():
    assert type(compile_patterns({"a": "a"})).__name__ == "HyperscanMatcher"


def test_an_engine_that_is_asked_for_is_taken():
    assert type(compile_patterns({"a": "a"}, "re2")).__name__ == "Re2Matcher"


def test_what_the_first_engine_refuses_goes_to_the_next():
    too_large = "(?:a.{0,200}b.{0,200}){40}c"
    matcher = compile_patterns({"large": too_large, "small": "xyz", "long": TOO_LONG_FOR_RE2})
    text = b"xyz " + b"ab" * 40 + b"c " + b"a" * 1500
    assert matcher.lines(text) == [(0, "large"), (0, "long"), (0, "small")]

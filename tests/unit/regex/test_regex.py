"""Distribution of patterns to the engines."""

from termvisor.regex import compile_patterns

ONLY_FOR_HYPERSCAN = "a{1500}"
ONLY_FOR_RE2 = r"a\b\Bc|(?P<never>a\b\Bd)"


def test_no_patterns_match_nothing():
    matcher = compile_patterns({})
    assert matcher.find_ids(b"anything") == frozenset()
    assert matcher.find_line_ids(b"any\nthing") == []


def test_auto_uses_hyperscan_if_it_is_available():
    assert type(compile_patterns({"a": "a"})).__name__ == "HyperscanMatcher"


def test_the_requested_engine_is_used():
    assert type(compile_patterns({"a": "a"}, "re2")).__name__ == "Re2Matcher"


def test_patterns_refused_by_the_first_engine_go_to_the_next():
    matcher = compile_patterns({"never": ONLY_FOR_RE2, "small": "xyz", "long": ONLY_FOR_HYPERSCAN})
    assert matcher.find_line_ids(b"xyz\n" + b"a" * 1500 + b"\nac ad") == [(0, "small"), (1, "long")]

"""Every pattern engine matches the same lines as Python's ``re``."""

import re
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.errors import ConfigError
from termvisor.regex import PatternMatcher, compile_patterns
from termvisor.regex.engine import ensure_utf8
from tests.fuzz.example_count import build_settings

ENGINES = ["hyperscan", "re2"]
PATTERNS = {
    "word": r"\bfoo\b",
    "named": r"(?P<key>ba[rz])=(?P<value>\d{1,3})",
    "start": r"^a",
    "end": r"z$",
    "dot": r"a.b",
    "caseless": r"(?i)k[eé]y",
    "scoped_caseless": r"x(?i:YZ)",
    "class": r"[^a-z\s]{2}",
    "spaces": r"a\s+b",
    "not_space": r"b\Sa",
    "in_class": r"q[\s,]r",
    "not_in_class": r"q[\S]r",
    "frame": r"[│┃|]\s*x",
    "escape": "\\u2502y",
    "up_to": r"ax{,2}b",
    "whole_text": r"\Afoo\Z",
    "vertical": r"a\vb",
    "literal_bracket": r"[]a]\{,3\}",
    "newline": r"a\nb",
}
ALPHABET = "abkKzxyqr foo=bar9é│┃|\u212a\u017f\x0b\t\r\n,{}]Z-_\U0001f600"


@pytest.fixture(scope="module", params=ENGINES)
def matcher(request) -> PatternMatcher:
    return compile_patterns(PATTERNS, request.param)


@pytest.fixture(scope="module")
def matchers() -> list[PatternMatcher]:
    return [compile_patterns(PATTERNS, engine) for engine in ENGINES]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("foo", [(0, "whole_text"), (0, "word")]),
        ("x foo\nfood\nfoo", [(0, "word"), (2, "whole_text"), (2, "word")]),
        ("bar=12", [(0, "class"), (0, "named")]),
        ("a\nb", [(0, "start")]),
        ("aéb", [(0, "dot"), (0, "start")]),
        ("a\x0bb", [(0, "dot"), (0, "spaces"), (0, "start"), (0, "vertical")]),
        ("zz\nz ", [(0, "end")]),
        ("KÉY", [(0, "caseless"), (0, "class")]),
        ("xyz xYZ", [(0, "class"), (0, "scoped_caseless")]),
        ("│ x", [(0, "frame")]),
        ("│y", [(0, "escape")]),
        ("axxb axxxb", [(0, "start"), (0, "up_to")]),
        ("q,r\nq r\nqxr", [(0, "in_class"), (0, "not_in_class"), (1, "in_class"), (2, "not_in_class")]),
    ],
)
def test_lines_match_the_expected_patterns(matcher: PatternMatcher, text: str, expected: list[tuple[int, str]]):
    assert matcher.find_line_ids(text.encode()) == expected


def test_a_pattern_matches_across_a_newline_in_a_text_but_not_by_line(matcher: PatternMatcher):
    assert "newline" in matcher.find_ids(b"a\nb")
    assert matcher.find_line_ids(b"a\nb") == [(0, "start")]


def test_invalid_utf8_is_matched_without_an_error(matcher: PatternMatcher):
    assert "word" in matcher.find_ids(b"\xff\xfe foo \xe2\x94")


def test_four_threads_get_correct_results(matcher: PatternMatcher):
    texts = [b"foo " * 20_000, b"nothing at all " * 20_000, b"bar=1 " * 20_000, b"\n" * 1000]
    expected = [matcher.find_ids(text) for text in texts]
    mismatches: list[int] = []

    def work(number: int) -> None:
        mismatches.extend(number for _ in range(50) if matcher.find_ids(texts[number]) != expected[number])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert mismatches == []


@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
@pytest.mark.parametrize("pattern", ["(", "a(?=b)", "(?<!a)b", r"(a)\1", "a*+b", "x*", "", "^$", "[[:alpha:]]x"])
def test_an_unusable_pattern_is_named_in_the_error(engine, pattern):
    with pytest.raises(ConfigError, match="bad_one") as error:
        compile_patterns({"fine": "abc", "bad_one": pattern}, engine)
    assert error.value.details == {"id": "bad_one"}


@build_settings(300)
@given(st.text(alphabet=ALPHABET, max_size=60))
def test_both_engines_match_every_line_like_python_re(matchers, text):
    expected = sorted(
        (number, name)
        for number, line in enumerate(text.split("\n"))
        for name, pattern in PATTERNS.items()
        if re.search(pattern, line, re.MULTILINE if name == "caseless" else re.MULTILINE | re.ASCII)
    )
    assert [matcher.find_line_ids(text.encode()) for matcher in matchers] == [expected, expected]


@build_settings(200)
@given(st.binary(max_size=40))
def test_both_engines_agree_on_any_bytes(matchers, data):
    first, second = matchers
    assert first.find_ids(data) == second.find_ids(data)
    assert first.find_line_ids(data) == second.find_line_ids(data)
    assert ensure_utf8(data).decode() == data.decode(errors="replace")

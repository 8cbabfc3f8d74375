"""Match a query against one line, and the prefilter of lines."""

import pytest

from termvisor.search.parser import parse_query
from termvisor.search.query_tree import (
    AndNode,
    LinePrefilter,
    NotNode,
    OrNode,
    PanesNode,
    PhraseNode,
    SearchableLine,
    SourceNode,
    TimeRangeNode,
    find_anchor_words,
    find_spans,
    is_match,
)
from termvisor.store.sqlite.database import get_tokenizer

SPLIT = get_tokenizer()


def parse(text):
    return parse_query(text, 0, SPLIT)


def build_line(text, pane=1, at=100):
    return SearchableLine([word for _, _, word in SPLIT(text)], pane, at, "stream")


@pytest.mark.parametrize(
    ("query", "text", "fits"),
    [
        ("limit", "the usage_limit was reached", True),
        ("LIMIT", "The Limit", True),
        ("limit", "limits", False),
        ("lim*", "limits", True),
        ("usage_limit", "usage limit", True),
        ("usage_limit", "limit usage", False),
        ('"a b c"', "x a b c y", True),
        ('"a b c"', "a b x c", False),
        ('"a b"*', "a bc", True),
        ('"a b"*', "ac b", False),
        ("cafe", "ein Café", True),
        ("a b", "b a", True),
        ("a b", "a", False),
        ("a OR b", "b", True),
        ("a -b", "a", True),
        ("a -b", "a b", False),
        ('"a a"', "a b a a", True),
        ("本語", "日本語のテキスト", True),
        ("語日", "日本語のテキスト", False),
        ("国*", "中国", True),
        ("file", "the ﬁle", True),
        ("ﬁle", "the file", True),
        ("software", "soft\u00adware", True),
        ("ok -🎉", "🎉ok", False),
        ("ok -🎉", "ok", True),
    ],
)
def test_a_query_matches_the_expected_lines(query, text, fits):
    assert is_match(parse(query), build_line(text)) is fits


def test_filters_match_by_pane_time_and_source():
    line = build_line("a", pane=7, at=50)
    assert is_match(
        AndNode((PhraseNode(("a",)), PanesNode(frozenset({7})), TimeRangeNode(50, 50), SourceNode("stream"))), line
    )
    assert not is_match(PanesNode(frozenset({8})), line)
    assert not is_match(TimeRangeNode(51, None), line)
    assert not is_match(TimeRangeNode(None, 49), line)
    assert not is_match(SourceNode("screen"), line)
    assert is_match(NotNode(SourceNode("screen")), line)


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("limit", "a limit, a limit", ["limit", "limit"]),
        ("usage_limit", "Usage Limit!", ["Usage Limit"]),
        ("lim*", "● naïve limits", ["limits"]),
        ("b a -c", "a b", ["a", "b"]),
        ('"a b" "b c"', "a b c", ["a b c"]),
        ("cafe", "ein Café.", ["Café"]),
    ],
)
def test_matched_spans_are_returned(query, text, marked):
    assert [text[start:end] for start, end in find_spans(parse(query), text, SPLIT(text))] == marked


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("abc", {"abc"}),
        ("src/main.rs", {"main"}),
        ("a longer -longest", {"longer"}),
        ("(a OR b) c", {"c"}),
        ("a OR b", {"a", "b"}),
    ],
)
def test_a_matching_line_contains_one_of_the_anchors(query, words):
    assert find_anchor_words(parse(query)) == words


def test_a_query_without_required_words_has_no_anchors():
    assert find_anchor_words(OrNode((PhraseNode(("a",)), NotNode(PhraseNode(("b",)))))) == frozenset()
    assert find_anchor_words(AndNode((PanesNode(frozenset()),))) == frozenset()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("nothing\nhere", []),
        (
            "Error\nx\nan ERROR and another error\n\nlast error",
            [(0, "Error"), (2, "an ERROR and another error"), (4, "last error")],
        ),
        ("error", [(0, "error")]),
        ("x\nerror\n", [(1, "error")]),
        ("", []),
        ("x\n● maybe\nerror", [(1, "● maybe"), (2, "error")]),
    ],
)
def test_the_prefilter_keeps_lines_that_may_match(text, kept):
    assert LinePrefilter(parse("error")).select_lines(text) == kept


def test_the_prefilter_requires_all_words_of_a_line():
    text = "an error\nok\nan Error, then OK\nnot ok: error"
    assert LinePrefilter(parse("error ok")).select_lines(text) == [(2, "an Error, then OK"), (3, "not ok: error")]
    assert LinePrefilter(parse('"error ok"')).select_lines("ok then error\nok") == [(0, "ok then error")]
    assert LinePrefilter(parse("error -ok")).select_lines(text) == [
        (0, "an error"),
        (2, "an Error, then OK"),
        (3, "not ok: error"),
    ]

"""Properties of a parsed query: index words, times and sources."""

import pytest

from termvisor.search.query_tree import (
    AndNode,
    NamedPanesNode,
    NotNode,
    OrNode,
    PanesNode,
    PhraseNode,
    SourceNode,
    TimeRangeNode,
    build_index_query,
    find_sources,
    find_time_range,
    find_wanted_phrases,
    has_words,
)

A, B, C = (PhraseNode((word,)) for word in "abc")
SEVEN = PanesNode(frozenset({7}))


@pytest.mark.parametrize(
    ("node", "query"),
    [
        (A, 'text : "a"'),
        (PhraseNode(("a", "b")), 'text : "a b"'),
        (PhraseNode(("a", "b"), is_prefix=True), 'text : "a b" *'),
        (AndNode((A, B)), '(text : "a" AND text : "b")'),
        (AndNode((A, NotNode(B))), '(text : "a")'),
        (OrNode((A, B)), '(text : "a" OR text : "b")'),
        (AndNode((A, SEVEN)), '(text : "a" AND pane : ("7"))'),
        (AndNode((A, PanesNode(frozenset({2, 1})))), '(text : "a" AND pane : ("1" OR "2"))'),
        (AndNode((A, PanesNode(frozenset()))), '(text : "a" AND pane : ("0"))'),
        (AndNode((A, TimeRangeNode(1, 2), SourceNode("stream"))), '(text : "a")'),
        (AndNode((A, OrNode((B, NotNode(C))))), '(text : "a")'),
        (NotNode(A), None),
        (AndNode((NotNode(A), NamedPanesNode("session", "x"))), None),
    ],
)
def test_the_index_query_contains_the_required_words(node, query):
    assert build_index_query(node) == query


def test_a_query_has_words_if_no_line_matches_without_one():
    assert has_words(AndNode((SEVEN, OrNode((A, B)))))
    assert not has_words(OrNode((A, SEVEN)))
    assert not has_words(NotNode(A))


def test_wanted_phrases_are_those_that_are_not_negated():
    assert list(find_wanted_phrases(AndNode((A, OrNode((B, SEVEN)), NotNode(C))))) == [A, B]


def test_required_times_are_intersected():
    assert find_time_range(
        AndNode((A, TimeRangeNode(1, None), AndNode((TimeRangeNode(3, 9), TimeRangeNode(None, 7)))))
    ) == TimeRangeNode(3, 7)
    assert find_time_range(OrNode((TimeRangeNode(1, 2), A))) == TimeRangeNode()
    assert find_time_range(NotNode(TimeRangeNode(1, 2))) == TimeRangeNode()


@pytest.mark.parametrize(
    ("node", "found"),
    [
        (A, "all"),
        (SourceNode("screen"), {"screen"}),
        (AndNode((A, SourceNode("stream"))), {"stream"}),
        (AndNode((A, NotNode(SourceNode("stream")))), {"screen", "transcript"}),
        (OrNode((AndNode((A, SourceNode("screen"))), AndNode((B, SourceNode("stream"))))), {"screen", "stream"}),
        (OrNode((AndNode((A, SourceNode("screen"))), B)), "all"),
        (AndNode((SourceNode("screen"), SourceNode("stream"))), set()),
        (NotNode(A), "all"),
    ],
)
def test_a_query_limits_the_sources(node, found):
    assert find_sources(node) == ({"stream", "screen", "transcript"} if found == "all" else found)

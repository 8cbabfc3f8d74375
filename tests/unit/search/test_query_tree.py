import pytest

from termvisor.search.query_tree import (
    And,
    From,
    InPanes,
    Named,
    Not,
    Or,
    Phrase,
    Within,
    bounds,
    has_words,
    index_query,
    sources,
    wanted,
)

A, B, C = (Phrase((word,)) for word in "abc")
SEVEN = InPanes(frozenset({7}))


@pytest.mark.parametrize(
    ("node", "query"),
    [
        (A, 'text : "a"'),
        (Phrase(("a", "b")), 'text : "a b"'),
        (Phrase(("a", "b"), is_prefix=True), 'text : "a b" *'),
        (And((A, B)), '(text : "a" AND text : "b")'),
        (And((A, Not(B))), '(text : "a")'),
        (Or((A, B)), '(text : "a" OR text : "b")'),
        (And((A, SEVEN)), '(text : "a" AND pane : ("7"))'),
        (And((A, InPanes(frozenset({2, 1})))), '(text : "a" AND pane : ("1" OR "2"))'),
        (And((A, InPanes(frozenset()))), '(text : "a" AND pane : ("0"))'),
        (And((A, Within(1, 2), From("stream"))), '(text : "a")'),
        (And((A, Or((B, Not(C))))), '(text : "a")'),
        (Not(A), None),
        (And((Not(A), Named("session", "x"))), None),
    ],
)
def test_the_index_is_asked_for_what_must_be_there(node, query):
    assert index_query(node) == query


def test_a_query_has_words_when_no_line_fits_without_one():
    assert has_words(And((SEVEN, Or((A, B)))))
    assert not has_words(Or((A, SEVEN)))
    assert not has_words(Not(A))


def test_wanted_are_the_phrases_that_are_not_forbidden():
    assert list(wanted(And((A, Or((B, SEVEN)), Not(C))))) == [A, B]


def test_times_that_must_all_hold_narrow_each_other():
    assert bounds(And((A, Within(1, None), And((Within(3, 9), Within(None, 7)))))) == Within(3, 7)
    assert bounds(Or((Within(1, 2), A))) == Within()
    assert bounds(Not(Within(1, 2))) == Within()


@pytest.mark.parametrize(
    ("node", "found"),
    [
        (A, "all"),
        (From("screen"), {"screen"}),
        (And((A, From("stream"))), {"stream"}),
        (And((A, Not(From("stream")))), {"screen", "transcript"}),
        (Or((And((A, From("screen"))), And((B, From("stream"))))), {"screen", "stream"}),
        (Or((And((A, From("screen"))), B)), "all"),
        (And((From("screen"), From("stream"))), set()),
        (Not(A), "all"),
    ],
)
def test_a_query_says_where_something_can_be_found(node, found):
    assert sources(node) == ({"stream", "screen", "transcript"} if found == "all" else found)

"""Parse the query language."""

import pytest

from termvisor.clock import NS
from termvisor.errors import BadRequest
from termvisor.search.parser import parse_query, quote_phrase, tokenize_query
from termvisor.search.query_tree import (
    AndNode,
    DetectionNode,
    NamedPanesNode,
    NotNode,
    OrNode,
    PanesNode,
    PhraseNode,
    RoleNode,
    SourceNode,
    TimeRangeNode,
)
from termvisor.store.sqlite.database import get_tokenizer

NOW = 1_800_000_000 * NS
A, B, C = (PhraseNode((word,)) for word in "abc")


def parse(text):
    return parse_query(text, NOW, get_tokenizer())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("A", A),
        ("a b", AndNode((A, B))),
        ("a AND b c", AndNode((A, B, C))),
        ("a OR b c", OrNode((A, AndNode((B, C))))),
        ("(a OR b) c", AndNode((OrNode((A, B)), C))),
        ("a NOT b", AndNode((A, NotNode(B)))),
        ("a AND NOT b", AndNode((A, NotNode(B)))),
        ("a -b", AndNode((A, NotNode(B)))),
        ("a -(b OR c)", AndNode((A, NotNode(OrNode((B, C)))))),
        ("NOT NOT a", A),
        ('"a b"', PhraseNode(("a", "b"))),
        ("a*", PhraseNode(("a",), is_prefix=True)),
        ('"a b"*', PhraseNode(("a", "b"), is_prefix=True)),
        ("usage_limit", PhraseNode(("usage", "limit"))),
        ("usage_lim*", PhraseNode(("usage", "lim"), is_prefix=True)),
        ("src/main.rs:12", PhraseNode(("src", "main", "rs", "12"))),
        ("--no-verify", PhraseNode(("no", "verify"))),
        ("don't", PhraseNode(("don", "t"))),
        ("main()", PhraseNode(("main",))),
        ("Ünïcode", PhraseNode(("unicode",))),
        ("error:", PhraseNode(("error",))),
        ("a pane:7", AndNode((A, PanesNode(frozenset({7}))))),
        ("a -pane:7", AndNode((A, NotNode(PanesNode(frozenset({7})))))),
        ("a session:work", AndNode((A, NamedPanesNode("session", "work")))),
        ('a target:"build host"', AndNode((A, NamedPanesNode("target", "build host")))),
        ("a since:10m", AndNode((A, TimeRangeNode(since=NOW - 600 * NS)))),
        ("a until:2027-01-15T08:00:00+00:00", AndNode((A, TimeRangeNode(until=NOW)))),
        ("a source:screen", AndNode((A, SourceNode("screen")))),
        ("a (pane:1 OR pane:2)", AndNode((A, OrNode((PanesNode(frozenset({1})), PanesNode(frozenset({2}))))))),
    ],
)
def test_a_query_is_parsed_to_a_tree(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("a AND", 6, "the query ends too early"),
        ("a OR OR b", 6, "a word is missing before OR"),
        ("AND a", 1, "a word is missing before AND"),
        ("a NOT", 6, "the query ends too early"),
        ("a (b", 3, "not closed"),
        ("a b)", 4, "unmatched \\)"),
        ("a ()", 4, "a word is missing before \\)"),
        ('a "b', 3, "unclosed quote"),
        ("a -> b", 3, "no letter, digit or emoji"),
        ('a ""', 3, "no letter, digit or emoji"),
        ("a *", 3, "no letter, digit or emoji"),
        ("a pane:x", 3, "not a number"),
        ("a pane:", 3, "needs a value"),
        ("a pane:٣", 3, "not a number"),
        ("a source:radio", 3, "unknown source"),
        ("a since:whenever", 3, "not a time"),
        ("a since:0001-01-01", 3, "not a time"),
        ("a since:" + "9" * 400 + "d", 3, "not a time"),
    ],
)
def test_a_malformed_query_is_an_error_with_position_and_hint(text, position, message):
    with pytest.raises(BadRequest, match=message) as caught:
        parse(text)
    assert caught.value.details["position"] == position
    assert caught.value.hint != BadRequest.hint


@pytest.mark.parametrize("text", ["", "   \n"])
def test_an_empty_query_is_refused(text):
    with pytest.raises(BadRequest, match="empty"):
        parse(text)


@pytest.mark.parametrize("text", ["-a", "pane:7", "NOT a since:1h", "a OR -b", "a OR pane:7", "pane:7 -a"])
def test_a_query_needs_a_word_to_search_for(text):
    with pytest.raises(BadRequest, match="only exclusions and filters"):
        parse(text)


def test_role_and_agent_are_filters():
    assert parse("a role:user agent:codex") == AndNode(
        (PhraseNode(("a",)), RoleNode("user"), NamedPanesNode("agent", "codex"))
    )
    with pytest.raises(BadRequest, match="unknown role 'boss'"):
        parse("a role:boss")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("event:usage.reached", DetectionNode("event", "usage.reached")),
        ("a rule:codex.*", AndNode((A, DetectionNode("rule", "codex.*")))),
        ("NOT severity:error a", AndNode((NotNode(DetectionNode("severity", "error")), A))),
    ],
)
def test_events_are_named_by_type_rule_or_severity(text, node):
    assert parse(text) == node


def test_an_unknown_severity_is_an_error():
    with pytest.raises(BadRequest, match="unknown severity 'bad'") as caught:
        parse("a severity:bad")
    assert "info, warning, error, critical" in caught.value.hint


@pytest.mark.parametrize("text", ["a" * 2001, "a " * 300, "(" * 13 + "a" + ")" * 13])
def test_a_too_long_query_is_refused(text):
    with pytest.raises(BadRequest):
        parse(text)


@pytest.mark.parametrize("text", ["AND", 'say "hi"', "-x", "pane:7", "(", "a*"])
def test_any_text_can_be_quoted(text):
    assert parse("a " + quote_phrase(text + " b")).parts[1].words[-1] == "b"


def list_tokens(text):
    """Return kind and text of each token."""
    return [(piece.kind, piece.name + ":" * bool(piece.name) + piece.text) for piece in tokenize_query(text)][:-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  one\ttwo\n", [("words", "one"), ("words", "two")]),
        ('"two words" x', [("words", "two words"), ("words", "x")]),
        (
            "a AND b OR NOT c",
            [*(("words", "a"), ("and", "AND"), ("words", "b")), ("or", "OR"), ("not", "NOT"), ("words", "c")],
        ),
        ("and or not ANDROID", [("words", "and"), ("words", "or"), ("words", "not"), ("words", "ANDROID")]),
        ("-word", [("not", "-"), ("words", "word")]),
        (
            '-"a b" -(c)',
            [*(("not", "-"), ("words", "a b"), ("not", "-")), ("open", "("), ("words", "c"), ("close", ")")],
        ),
        ("--no-verify", [("words", "--no-verify")]),
        ("a->b -> - _x", [("words", "a->b"), ("words", "->"), ("words", "-"), ("words", "_x")]),
        ("src/main.rs:12", [("words", "src/main.rs:12")]),
        ("http://x:80/", [("words", "http://x:80/")]),
        ("(a OR main())", [*(("open", "("), ("words", "a"), ("or", "OR")), ("words", "main()"), ("close", ")")]),
        ("f(x)(y)", [("words", "f(x)(y)")]),
        ("pane:7 -session:work", [("filter", "pane:7"), ("not", "-"), ("filter", "session:work")]),
        ('session:"my work" x', [("filter", "session:my work"), ("words", "x")]),
        ("since:2026-11-15T21:00", [("filter", "since:2026-11-15T21:00")]),
        ("(pane:7)", [("open", "("), ("filter", "pane:7"), ("close", ")")]),
        ("session:a*", [("filter", "session:a*")]),
        ("pane: x", [("filter", "pane:"), ("words", "x")]),
        ("mypane:7 Pane:7", [("words", "mypane:7"), ("words", "Pane:7")]),
    ],
)
def test_a_query_is_split_into_tokens(text, expected):
    assert list_tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "prefix"), [("ab*", True), ('"a b"*', True), ("a*b", False), ("*", False), ("a", False)]
)
def test_a_star_at_the_end_makes_a_prefix(text, prefix):
    assert tokenize_query(text)[0].is_prefix is prefix


def test_every_token_has_its_position():
    assert [piece.position for piece in tokenize_query('ab "c d" (-e)')] == [0, 3, 9, 10, 11, 12, 13]


def test_an_unclosed_quote_is_an_error_with_its_position():
    with pytest.raises(BadRequest, match="at character 4: unclosed quote") as caught:
        tokenize_query('ab "cd')
    assert caught.value.details == {"position": 4}

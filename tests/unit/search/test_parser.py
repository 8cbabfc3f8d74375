import pytest

from termvisor.clock import NS
from termvisor.errors import BadRequest
from termvisor.search.parser import parse, quote
from termvisor.search.query_tree import And, By, Detected, From, InPanes, Named, Not, Or, Phrase, Within
from termvisor.store.sqlite.database import tokeniser

NOW = 1_800_000_000 * NS
A, B, C = (Phrase((word,)) for word in "abc")


def tree(text):
    return parse(text, NOW, tokeniser())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("A", A),
        ("a b", And((A, B))),
        ("a AND b c", And((A, B, C))),
        ("a OR b c", Or((A, And((B, C))))),
        ("(a OR b) c", And((Or((A, B)), C))),
        ("a NOT b", And((A, Not(B)))),
        ("a AND NOT b", And((A, Not(B)))),
        ("a -b", And((A, Not(B)))),
        ("a -(b OR c)", And((A, Not(Or((B, C)))))),
        ("NOT NOT a", A),
        ('"a b"', Phrase(("a", "b"))),
        ("a*", Phrase(("a",), is_prefix=True)),
        ('"a b"*', Phrase(("a", "b"), is_prefix=True)),
        ("usage_limit", Phrase(("usage", "limit"))),
        ("usage_lim*", Phrase(("usage", "lim"), is_prefix=True)),
        ("src/main.rs:12", Phrase(("src", "main", "rs", "12"))),
        ("--no-verify", Phrase(("no", "verify"))),
        ("don't", Phrase(("don", "t"))),
        ("main()", Phrase(("main",))),
        ("Ünïcode", Phrase(("unicode",))),
        ("error:", Phrase(("error",))),
        ("a pane:7", And((A, InPanes(frozenset({7}))))),
        ("a -pane:7", And((A, Not(InPanes(frozenset({7})))))),
        ("a session:work", And((A, Named("session", "work")))),
        ('a target:"build host"', And((A, Named("target", "build host")))),
        ("a since:10m", And((A, Within(since=NOW - 600 * NS)))),
        ("a until:2027-01-15T08:00:00+00:00", And((A, Within(until=NOW)))),
        ("a source:screen", And((A, From("screen")))),
        ("a (pane:1 OR pane:2)", And((A, Or((InPanes(frozenset({1})), InPanes(frozenset({2}))))))),
    ],
)
def test_a_text_becomes_a_tree(text, expected):
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("a AND", 6, "something must follow"),
        ("a OR OR b", 6, "a word is missing before OR"),
        ("AND a", 1, "a word is missing before AND"),
        ("a NOT", 6, "something must follow"),
        ("a (b", 3, "not closed"),
        ("a b)", 4, "no \\( for this"),
        ("a ()", 4, "a word is missing before \\)"),
        ('a "b', 3, "quote is not closed"),
        ("a -> b", 3, "no letter or digit"),
        ('a ""', 3, "no letter or digit"),
        ("a *", 3, "no letter or digit"),
        ("a pane:x", 3, "not a number"),
        ("a pane:", 3, "needs a value"),
        ("a pane:٣", 3, "not a number"),
        ("a source:radio", 3, "no source"),
        ("a since:whenever", 3, "not a time"),
        ("a since:0001-01-01", 3, "not a time"),
        ("a since:" + "9" * 400 + "d", 3, "not a time"),
    ],
)
def test_what_makes_no_sense_is_told_with_its_place_and_what_to_write(text, position, message):
    with pytest.raises(BadRequest, match=message) as caught:
        tree(text)
    assert caught.value.details["position"] == position
    assert caught.value.hint != BadRequest.hint


@pytest.mark.parametrize("text", ["", "   \n"])
def test_an_empty_query_is_refused(text):
    with pytest.raises(BadRequest, match="empty"):
        tree(text)


@pytest.mark.parametrize("text", ["-a", "pane:7", "NOT a since:1h", "a OR -b", "a OR pane:7", "pane:7 -a"])
def test_a_query_must_say_what_to_look_for(text):
    with pytest.raises(BadRequest, match="only what to leave out"):
        tree(text)


def test_who_said_it_and_to_which_agent_are_filters():
    assert tree("a role:user agent:codex") == And((Phrase(("a",)), By("user"), Named("agent", "codex")))
    with pytest.raises(BadRequest, match="no role 'boss'"):
        tree("a role:boss")


@pytest.mark.parametrize(
    ("text", "node"),
    [
        ("event:usage.reached", Detected("event", "usage.reached")),
        ("a rule:codex.*", And((A, Detected("rule", "codex.*")))),
        ("NOT severity:error a", And((Not(Detected("severity", "error")), A))),
    ],
)
def test_events_are_named_by_type_rule_or_severity(text, node):
    assert tree(text) == node


def test_a_severity_that_is_none_is_told():
    with pytest.raises(BadRequest, match="there is no severity 'bad'") as caught:
        tree("a severity:bad")
    assert "info, warning, error, critical" in caught.value.hint


@pytest.mark.parametrize("text", ["a" * 2001, "a " * 300, "(" * 13 + "a" + ")" * 13])
def test_an_endless_query_is_refused(text):
    with pytest.raises(BadRequest):
        tree(text)


@pytest.mark.parametrize("text", ["AND", 'say "hi"', "-x", "pane:7", "(", "a*"])
def test_any_text_can_be_quoted(text):
    assert tree("a " + quote(text + " b")).parts[1].words[-1] == "b"

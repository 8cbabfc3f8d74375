import pytest

from termvisor.errors import BadRequest
from termvisor.search.lexer import tokenize_query


def told(text):
    """Kind and text of each piece, short."""
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
    assert told(text) == expected


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

import sys

import pytest

from termvisor.policy.shell import grammar
from termvisor.policy.shell.call_extractor import extract_calls
from termvisor.policy.shell.grammar import SyntaxNode, find_fixes


def test_node_positions_are_characters() -> None:
    root = grammar.parse_script("echo é; rm ü")
    assert root is not None
    last = root.named_children[-1]
    assert (last.kind, last.text, (last.start, last.end)) == ("command", "rm ü", (8, 12))


@pytest.mark.parametrize("text", ["{\U000e0001", "${\U0001f600", "{\u4e00..9}", "<<\U0010ffff", "@(\ufffd"])
def test_non_ascii_characters_do_not_crash_the_parser(text: str) -> None:
    """The grammar's own scanner reads behind the end of those tables."""
    assert all(grammar.parse_script(text * times) is not None for times in (1, 5, 20))


def test_syntax_error_is_reported() -> None:
    root = grammar.parse_script("echo )")
    assert root is not None
    assert root.has_error


def test_too_large_text_is_not_parsed() -> None:
    assert grammar.parse_script("x" * (grammar.MAX_TEXT_CHARS + 1)) is None
    assert grammar.parse_script("|" * (grammar.MAX_SIGNS + 1)) is None


def test_without_the_parser_nothing_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar._load_language.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    assert grammar.parse_script("ls") is None
    grammar._load_language.cache_clear()


def test_comments_become_words() -> None:
    assert grammar.disable_comments("ls # a; b") == "ls \ue00d a; b"
    assert grammar.disable_comments("echo 'a # b' a#b") == "echo 'a # b' a#b"


def lines(text: str) -> list[str]:
    root = grammar.parse_script(text)
    assert root is not None
    return [call.text for call in extract_calls(root)[0] if call.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("'a'\\b c", ["ab c"]),
        ('x "a"\\ b', ["x a b"]),
        ("x \\ a", ["x  a"]),
        ("a\\\nb", ["ab"]),
        ("X='a'\\b c d", ["c d"]),
        ("x $'\\\\' ; y #'", ["x \\", "y"]),
        ("x $'\\'' y", ["x ' y"]),
        ('x $"a" -$"b"c', ["x a -bc"]),
        ('x \\$"a"', ["x $a"]),
        ("time a | b", ["a", "b"]),
        ("time -p { a; }", ["a"]),
        ("time >/dev/null a b", ["a b"]),
        ("time -f x a", ["time -f x a"]),
        ("coproc a b", ["a b"]),
        ("x time coproc", ["x time coproc"]),
    ],
)
def test_text_is_parsed_as_by_bash(text: str, expected: list[str]) -> None:
    assert lines(text) == expected


@pytest.mark.parametrize("text", ["a b", "'a\\' b", '"a\\"b"', "a \\\n b", "x 'time'", "cat <<A\nit's \\$x\nA"])
def test_correctly_parsed_text_needs_no_fix(text: str) -> None:
    root = grammar.parse_script(text)
    assert root is not None
    assert list(find_fixes(root, bytearray(text.encode()))) == []


def test_node_has_the_original_text() -> None:
    root = grammar.parse_script("echo 'é' > ü")
    assert isinstance(root, SyntaxNode)
    (statement,) = root.named_children
    command, redirect = statement.named_children
    assert (root.kind, root.has_error, statement.kind) == ("program", False, "redirected_statement")
    assert (command.text, command.start, command.end) == ("echo 'é'", 0, 8)
    assert [(piece.text, piece.is_named) for piece in redirect.children] == [(">", False), ("ü", True)]

import sys

import pytest

from termvisor.policy.shell import grammar


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


def test_what_is_too_large_is_not_parsed() -> None:
    assert grammar.parse_script("x" * (grammar.MAX_TEXT_CHARS + 1)) is None
    assert grammar.parse_script("|" * (grammar.MAX_SIGNS + 1)) is None


def test_without_the_parser_nothing_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    grammar._load_language.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    assert grammar.parse_script("ls") is None
    grammar._load_language.cache_clear()


def test_comments_become_words() -> None:
    assert grammar.disable_comments("ls # a; b") == "ls _ a; b"
    assert grammar.disable_comments("echo 'a # b' a#b") == "echo 'a # b' a#b"

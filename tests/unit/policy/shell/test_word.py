import pytest

from termvisor.policy.shell import call_extractor, grammar
from termvisor.policy.shell.word import UNKNOWN_TEXT, ShellWord, decode_ansi_c, decode_double_quoted


def parse_words(text: str) -> list[ShellWord]:
    root = grammar.parse_script(text)
    assert root is not None
    return list(call_extractor.extract_calls(root)[0][-1].words)


def list_texts(text: str) -> list[str]:
    return [word.text for word in parse_words(text)]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a'b'\"c\"", "abc"),
        ("a\\ b", "a b"),
        ('"a\\"b\\$c\\d"', 'a"b$c\\d'),
        ("$'a\\tb\\x41'", "a\tbA"),
        ('$"abc"', "abc"),
        ("'a$b'", "a$b"),
        ('"  a  "', "  a  "),
        ("''", ""),
        ("~/x", "~/x"),
        ("'~/x'", "./~/x"),
        ("$HOME/x", "~/x"),
        ('"${HOME}/x"', "~/x"),
        ("$PWD/x", "./x"),
        ("a$X", f"a{UNKNOWN_TEXT}"),
        ('"a$(ls)b`ls`c"', f"a{UNKNOWN_TEXT}b{UNKNOWN_TEXT}c"),
        ("$((1+2))", UNKNOWN_TEXT),
        ("<(ls)", UNKNOWN_TEXT),
        ("é'ü'", "éü"),
        ("a=b", "a=b"),
        ("\\{a,b\\}", "{a,b}"),
        ("'{a,b}'", "{a,b}"),
        ("{a}", "{a}"),
        ("12", "12"),
    ],
)
def test_word_is_what_the_program_receives(text: str, word: str) -> None:
    assert list_texts(f"echo {text}") == ["echo", word]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{a,b}", ["a", "b"]),
        ("x{a,b}y", ["xay", "xby"]),
        ("{a,b}{c,d}", ["ac", "ad", "bc", "bd"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("x{1..3}", ["x*"]),
        ("'{'a,b}", ["{a,b}"]),
    ],
)
def test_braces_make_several_words(text: str, found: list[str]) -> None:
    assert list_texts(f"echo {text}")[1:] == found


def test_too_many_brace_words_are_unknown() -> None:
    assert list_texts("echo " + "{a,b}" * 10)[1:] == [UNKNOWN_TEXT]


@pytest.mark.parametrize(
    ("text", "is_pattern"), [("*", True), ("a?", True), ("[ab]", True), ("'*'", False), ("\\*", False), ('"?"', False)]
)
def test_only_unquoted_signs_make_a_pattern(text: str, is_pattern: bool) -> None:
    assert parse_words(f"echo {text}")[1].is_pattern is is_pattern


def test_escape_cannot_produce_mask_characters() -> None:
    assert list_texts("echo $'\\ue00f\\ue000'") == ["echo", "\ufffd\ufffd"]


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a\\n\\t\\e", "a\n\t\x1b"),
        ("\\x72m", "rm"),
        ("\\162m", "rm"),
        ("\\u0072\\U0000006d", "rm"),
        ("\\cA", "\x01"),
        ("\\'\\\\", "'\\"),
        ("\\q", "q"),
        ("\\x0", "\ufffd"),
        ("\\ud800", "\ufffd"),
        ("\\Uffffffff", "\ufffd"),
    ],
)
def test_ansi_escapes_are_decoded_as_in_bash(text: str, meaning: str) -> None:
    assert decode_ansi_c(text) == meaning


def test_in_double_quotes_a_backslash_escapes_only_some_characters() -> None:
    assert decode_double_quoted('\\"\\$\\`\\\\\\a\\\nb') == '"$`\\\\ab'

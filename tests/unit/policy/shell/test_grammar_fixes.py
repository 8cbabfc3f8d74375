import pytest

from termvisor.policy.shell import grammar
from termvisor.policy.shell.call_extractor import extract_calls
from termvisor.policy.shell.grammar_fixes import find_fixes


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

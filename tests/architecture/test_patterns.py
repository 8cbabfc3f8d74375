"""No pattern repeats a group possessively or atomically: Python 3.11.0 to 3.11.4 match such patterns wrongly.

CPython gh-106052: where the group can match in several ways, the engine loses its place. Debian 12 has Python 3.11.2. A
possessive repeat of one character or class, such as ``[0-9]*+``, is right everywhere.
"""

import ast
import re
from collections.abc import Iterator

from tests.architecture.source import SOURCE, Module, modules, sample

PROBES = {"src/termvisor/diagnostics/checks/python.py"}
"""The self-test of `visor doctor`."""
_POSSESSIVE = r"(?:[*+?]|\{[0-9]*,?[0-9]*\})\+"
# Escapes and classes are read as a whole, so that `\)` and `[)]` do not count as the end of a group.
_TOKEN = re.compile(rf"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<wrong>\(\?>|\){_POSSESSIVE})|.", re.DOTALL)
_REPEAT_OF_WHAT_PRECEDES = re.compile(_POSSESSIVE)


def has_repeated_group(pattern: str) -> bool:
    return any(token["wrong"] for token in _TOKEN.finditer(pattern))


def find_repeated_groups(found: list[Module]) -> list[str]:
    """Return where a text, or a text joined to another one, has such a pattern."""
    return [f"{module.path}:{line}" for module in found for line in sorted(set(_find_lines(module)))]


def _find_lines(module: Module) -> Iterator[int]:
    for node in module.nodes:
        if isinstance(node, ast.Constant) and has_repeated_group(_read_text(node)):
            yield node.lineno
        if isinstance(node, ast.BinOp | ast.JoinedStr) and any(map(_is_continued, _list_later_parts(node))):
            yield node.lineno


def _list_later_parts(node: ast.BinOp | ast.JoinedStr) -> list[ast.expr]:
    return [node.right] if isinstance(node, ast.BinOp) else node.values[1:]


def _is_continued(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and _REPEAT_OF_WHAT_PRECEDES.match(_read_text(node)) is not None


def _read_text(node: ast.Constant) -> str:
    if isinstance(node.value, bytes):
        return node.value.decode("latin-1")
    return node.value if isinstance(node.value, str) else ""


def test_no_pattern_repeats_a_group_possessively() -> None:
    found = find_repeated_groups(modules())
    assert {place.partition(":")[0] for place in found} == PROBES


def test_no_rule_repeats_a_group_possessively() -> None:
    packs = sorted(SOURCE.glob("termvisor/**/*.toml"))
    assert len(packs) > 100
    assert [pack.name for pack in packs if has_repeated_group(pack.read_text("utf-8"))] == []


def test_repeated_groups_are_found() -> None:
    text = """
A = r"(?:a|b)++"
B = rb"x(?>a|b)"
C = r"(a){2,3}+"
D = r"(?:a" + E + rb")*+"
F = G + r"?+"
H = rf"{G}++"
"""
    assert [place.rpartition(":")[2] for place in find_repeated_groups([sample(text)])] == list("234567")


def test_other_repeats_are_allowed() -> None:
    text = r"""
A = r"[0-9]*+x++y{2}+(?:ab)+(?:ab)*?"
B = r"\)++[)]++(?:\*+|a)"
C = f"+++ {A} -- {B}+"
D = "a" + "+b"
"""
    assert find_repeated_groups([sample(text)]) == []

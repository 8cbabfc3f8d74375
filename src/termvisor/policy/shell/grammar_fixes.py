"""Find text that the grammar parses differently from a real bash, and what to parse instead.

A fix is a range of the parsed copy and the byte to fill it with. The copy keeps its length, so that positions in the
tree are positions in the original text.
"""

import re
from collections.abc import Iterator

from termvisor.policy.shell.syntax_node import SUBSTITUTION_KINDS, WORD_KINDS, SyntaxNode

TextFix = tuple[int, int, bytes]
FILLER = b"Z"
"""Replacement for any letter; no keyword of the grammar contains it."""

_BACKSLASH, _DOLLAR = b"\\$"
_ESCAPE = re.compile(rb"\\.?", re.DOTALL)
_ESCAPED_DOLLAR = re.compile(rb"(?<!\\)(?:\\\\)*\\\$")
_ANSI_STRING = re.compile(rb"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_STATEMENT_PREFIX = re.compile(rb"(?:time(?:[ \t]+-p)?(?:[ \t]+--)?(?![ \t]+-)|coproc)(?![^\s;&|()<>])")
_LINE_CONTINUATION = b"\\\n"


def find_fixes(root: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    if _BACKSLASH in data or b'$"' in data:
        yield from _find_torn_words(root, data)
    if _STATEMENT_PREFIX.search(data):
        yield from _find_prefixes(root, data)


def _find_prefixes(root: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    """Blank `time` and `coproc` before a statement, which the grammar takes for programs."""
    for node in root.iterate_descendants():
        prefix = _STATEMENT_PREFIX.match(data, node.start) if node.kind == "command_name" else None
        if prefix and node.text in ("time", "coproc"):
            yield prefix.start(), prefix.end(), b" "


def _find_torn_words(root: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    """Fill backslashes that the grammar takes for the end of a word or for space but a shell does not."""
    covered = bytearray(len(data))
    ends: set[int] = set()
    todo = [(root, False)]
    while todo:
        node, is_inside = todo.pop()
        is_text = node.kind in ("string", "heredoc_body")
        if is_text or node.kind in SUBSTITUTION_KINDS or not node.children:
            covered[node.start : node.end] = bytes([node.kind not in SUBSTITUTION_KINDS]) * (node.end - node.start)
        if node.kind in WORD_KINDS and node.kind != "variable_name" and not is_inside:
            ends.add(node.end)
            yield from _find_translated_strings(node, data)
        if node.kind == "ansi_c_string":
            ends |= _find_escapes(data, node.start)
        todo += [(child, is_text) for child in node.children]
    for escape in _ESCAPE.finditer(data):
        start = escape.start()
        if start in ends or (not covered[start] and escape[0] != _LINE_CONTINUATION):
            yield start, escape.end(), FILLER


def _find_translated_strings(node: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    """Fill the `$` of `$"…"`, which belongs to the word but is a separate token in the grammar."""
    dollar = node.start - 1
    if (
        node.kind == "string"
        and dollar >= 0
        and data[dollar] == _DOLLAR
        and not _ESCAPED_DOLLAR.search(data[max(0, dollar - 8) : dollar + 1])
    ):
        yield dollar, dollar + 1, FILLER


def _find_escapes(data: bytearray, start: int) -> set[int]:
    """Return the backslashes of a `$'…'`; the grammar does not see that `$'\\\\'` ends there."""
    whole = _ANSI_STRING.match(data, start)
    return {escape.start() for escape in _ESCAPE.finditer(data, start, whole.end())} if whole else set()

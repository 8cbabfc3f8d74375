"""Where the grammar reads a text otherwise than a shell would, and what to parse there instead.

Found by comparing it with a real bash. A mending is a stretch of the copy that is parsed and what to fill it with; the
copy keeps its length, so that every part is still found in the text itself.
"""

import re
from collections.abc import Iterator

from termvisor.policy.shell.syntax_node import SUBSTITUTION_KINDS, WORD_KINDS, SyntaxNode

TextFix = tuple[int, int, bytes]
FILLER = b"Z"
"""Stands for any letter: no word of the grammar holds it."""

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
    """`time` and `coproc` may stand before any statement; the grammar takes them for programs."""
    for part in _iterate_descendants(root):
        found = _STATEMENT_PREFIX.match(data, part.start) if part.kind == "command_name" else None
        if found and part.text in ("time", "coproc"):
            yield found.start(), found.end(), b" "


def _find_torn_words(root: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    """Backslashes that the grammar takes for the end of a word, or for white space, where the shell goes on with it."""
    seen = bytearray(len(data))
    ends: set[int] = set()
    todo = [(root, False)]
    while todo:
        part, is_inside = todo.pop()
        is_text = part.kind in ("string", "heredoc_body")
        if is_text or part.kind in SUBSTITUTION_KINDS or not part.children:
            seen[part.start : part.end] = bytes([part.kind not in SUBSTITUTION_KINDS]) * (part.end - part.start)
        if part.kind in WORD_KINDS and part.kind != "variable_name" and not is_inside:
            ends.add(part.end)
            yield from _find_translated_strings(part, data)
        if part.kind == "ansi_c_string":
            ends |= _find_escapes(data, part.start)
        todo += [(child, is_text) for child in part.children]
    for found in _ESCAPE.finditer(data):
        at = found.start()
        if at in ends or (not seen[at] and found[0] != _LINE_CONTINUATION):
            yield at, found.end(), FILLER


def _find_translated_strings(part: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    """The `$` of `$"…"` belongs to the word; the grammar makes a sign of its own of it."""
    at = part.start - 1
    if (
        part.kind == "string"
        and at >= 0
        and data[at] == _DOLLAR
        and not _ESCAPED_DOLLAR.search(data[max(0, at - 8) : at + 1])
    ):
        yield at, at + 1, FILLER


def _find_escapes(data: bytearray, start: int) -> set[int]:
    """The backslashes of a `$'…'`. The grammar does not see that `$'\\\\'` ends there."""
    whole = _ANSI_STRING.match(data, start)
    return {found.start() for found in _ESCAPE.finditer(data, start, whole.end())} if whole else set()


def _iterate_descendants(root: SyntaxNode) -> Iterator[SyntaxNode]:
    todo = [root]
    while todo:
        part = todo.pop()
        yield part
        todo += part.named_children

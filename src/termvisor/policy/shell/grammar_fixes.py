"""Where the grammar reads a text otherwise than a shell would, and what to parse there instead.

Found by comparing it with a real bash. A mending is a stretch of the copy that is parsed and what to fill it with; the
copy keeps its length, so that every part is still found in the text itself.
"""

import re
from collections.abc import Iterator

from termvisor.policy.shell.syntax_node import SUBSTITUTIONS, WORDS, Part

Mending = tuple[int, int, bytes]
LETTER = b"Z"
"""Stands for any letter: no word of the grammar holds it."""

_BACKSLASH, _DOLLAR = b"\\$"
_ESCAPE = re.compile(rb"\\.?", re.DOTALL)
_ESCAPED = re.compile(rb"(?<!\\)(?:\\\\)*\\\$")
_ANSI = re.compile(rb"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_PREFIX = re.compile(rb"(?:time(?:[ \t]+-p)?(?:[ \t]+--)?(?![ \t]+-)|coproc)(?![^\s;&|()<>])")
_CONTINUED = b"\\\n"


def mendings(root: Part, data: bytearray) -> Iterator[Mending]:
    if _BACKSLASH in data or b'$"' in data:
        yield from _torn(root, data)
    if _PREFIX.search(data):
        yield from _prefixes(root, data)


def _prefixes(root: Part, data: bytearray) -> Iterator[Mending]:
    """`time` and `coproc` may stand before any statement; the grammar takes them for programs."""
    for part in _descendants(root):
        found = _PREFIX.match(data, part.start) if part.kind == "command_name" else None
        if found and part.text in ("time", "coproc"):
            yield found.start(), found.end(), b" "


def _torn(root: Part, data: bytearray) -> Iterator[Mending]:
    """Backslashes that the grammar takes for the end of a word, or for white space, where the shell goes on with it."""
    seen = bytearray(len(data))
    ends: set[int] = set()
    todo = [(root, False)]
    while todo:
        part, is_inside = todo.pop()
        is_text = part.kind in ("string", "heredoc_body")
        if is_text or part.kind in SUBSTITUTIONS or not part.pieces:
            seen[part.start : part.end] = bytes([part.kind not in SUBSTITUTIONS]) * (part.end - part.start)
        if part.kind in WORDS and part.kind != "variable_name" and not is_inside:
            ends.add(part.end)
            yield from _translated(part, data)
        if part.kind == "ansi_c_string":
            ends |= _escapes(data, part.start)
        todo += [(child, is_text) for child in part.pieces]
    for found in _ESCAPE.finditer(data):
        at = found.start()
        if at in ends or (not seen[at] and found[0] != _CONTINUED):
            yield at, found.end(), LETTER


def _translated(part: Part, data: bytearray) -> Iterator[Mending]:
    """The `$` of `$"…"` belongs to the word; the grammar makes a sign of its own of it."""
    at = part.start - 1
    if part.kind == "string" and at >= 0 and data[at] == _DOLLAR and not _ESCAPED.search(data[max(0, at - 8) : at + 1]):
        yield at, at + 1, LETTER


def _escapes(data: bytearray, start: int) -> set[int]:
    """The backslashes of a `$'…'`. The grammar does not see that `$'\\\\'` ends there."""
    whole = _ANSI.match(data, start)
    return {found.start() for found in _ESCAPE.finditer(data, start, whole.end())} if whole else set()


def _descendants(root: Part) -> Iterator[Part]:
    todo = [root]
    while todo:
        part = todo.pop()
        yield part
        todo += part.parts

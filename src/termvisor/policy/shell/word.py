"""A word of a command line as the shell would hand it to the program: without quotes, with braces expanded.

What only the shell will know (variables, substitutions) is a HOLE in the text. While a word is put together, quoted
characters that would mean something unquoted are masked, so that `'*'` is not taken for a pattern.
"""

import re
from itertools import pairwise

from msgspec import Struct

from termvisor.policy.shell import quoting as escape
from termvisor.policy.shell.syntax_node import Part, Unreadable

HOLE = "\ue00f"
_HOME = "\ue00e"
_MEANING = "{},*?[~"
_MASKED = {ord(sign): chr(0xE000 + at) for at, sign in enumerate(_MEANING)}
_PLAIN = {0xE000 + at: sign for at, sign in enumerate(_MEANING)} | {ord(_HOME): "~"}
PRIVATE = re.compile("[\ue000-\ue00f]")
"""What a text from outside must not hold."""

_PATTERN = re.compile(r"[*?\[]")
_SPACE = re.compile(r"(?<!\\)(?:\\\\)*[ \t\n]")
_DOLLAR = re.compile(r"(?<!\\)(?:\\\\)*\$$")
_MOST_WORDS = 64
_KNOWN = {"$HOME": _HOME, "${HOME}": _HOME, "$PWD": ".", "${PWD}": "."}
_UNKNOWN = ("command_substitution", "process_substitution", "arithmetic_expansion", "simple_expansion", "expansion")


class Word(Struct, frozen=True):
    """``text`` has a HOLE where it is not known; ``start`` and ``end`` are characters of the source."""

    text: str
    start: int = 0
    end: int = 0
    is_pattern: bool = False

    @property
    def is_known(self) -> bool:
        return HOLE not in self.text


def words(node: Part) -> list[Word]:
    """What one word of the source becomes; braces may make it several. Raises `Unreadable`."""
    return [_finished(text, node) for text in _expanded(_masked(node))]


def _finished(masked: str, node: Part) -> Word:
    text = masked.translate(_PLAIN)
    text = f"./{text}" if masked.startswith(_MASKED[ord("~")]) else text
    return Word(text, node.start, node.end, _PATTERN.search(masked) is not None)


def _masked(node: Part) -> str:
    kind, raw = node.kind, node.text
    if kind in _UNKNOWN:
        return _KNOWN.get(raw, HOLE)
    if kind == "raw_string":
        return _quoted(raw[1:-1])
    if kind == "ansi_c_string":
        return _quoted(escape.ansi_c(raw[2:-1]))
    if kind == "string":
        return _in_quotes(node)
    if not node.parts:
        if _SPACE.search(raw):
            raise Unreadable
        return _unquoted(raw)
    pieces = node.pieces
    if any(one.end != other.start for one, other in pairwise(pieces)):
        raise Unreadable
    return "".join(_without_dollar(one, other) for one, other in pairwise([*pieces, node]))


def _without_dollar(piece: Part, behind: Part) -> str:
    """The `$` of `$"…"` means nothing; the grammar may leave it at the end of the piece before."""
    text = _masked(piece)
    is_sign = behind.kind == "string" and not piece.parts and _DOLLAR.search(piece.text)
    return text[:-1] if is_sign and piece.kind not in ("raw_string", "ansi_c_string", "string") else text


def _in_quotes(node: Part) -> str:
    """Text between the parts of a string is its own; the grammar leaves some of it out of the tree."""
    source, start = node.text, node.start
    text, at = "", source.find('"') + 1
    for child in node.parts:
        if child.kind in _UNKNOWN:
            text += _quoted(escape.double(source[at : child.start - start])) + _masked(child)
            at = child.end - start
    return text + _quoted(escape.double(source[at:-1]))


def _quoted(text: str) -> str:
    return text.translate(_MASKED)


def _unquoted(raw: str) -> str:
    """A backslash quotes the next character; before a newline both are gone."""
    return re.sub(r"\\(.?)", lambda found: _quoted(found[1].replace("\n", "")), raw, flags=re.DOTALL)


def _expanded(text: str) -> list[str]:
    """Brace expansion. A sequence (`{1..9}`) is taken as a pattern; too many words as one that is not known."""
    todo: list[str] = [text]
    done: list[str] = []
    while todo:
        if len(todo) + len(done) > _MOST_WORDS:
            return [HOLE]
        one = todo.pop()
        parts = _braces(one)
        if parts is None:
            done.append(one)
        else:
            todo += reversed(parts)
    return done


def _braces(text: str) -> list[str] | None:
    """The texts that the first pair of braces stands for; None without one."""
    for found in re.finditer(r"\{", text):
        commas, end = _inside(text, found.end())
        before, inside = text[: found.start()], text[found.end() : end]
        if end and commas:
            cuts = [found.start(), *commas, end]
            return [before + text[a + 1 : b] + text[end + 1 :] for a, b in pairwise(cuts)]
        if end and re.fullmatch(r"-?\w+\.\.-?\w+(?:\.\.-?\d+)?", inside):
            return [f"{before}*{text[end + 1 :]}"]
    return None


def _inside(text: str, start: int) -> tuple[list[int], int]:
    """Where the commas of this level stand, and where the brace is closed; 0 when it is not."""
    commas, depth = [], 0
    for at in range(start, len(text)):
        if text[at] == "{":
            depth += 1
        elif text[at] == "," and not depth:
            commas.append(at)
        elif text[at] == "}":
            depth -= 1
            if depth < 0:
                return commas, at
    return commas, 0

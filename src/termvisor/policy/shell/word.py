"""A word of a command line as the shell would hand it to the program: without quotes, with braces expanded.

What only the shell will know (variables, substitutions) is a HOLE in the text. While a word is put together, quoted
characters that would mean something unquoted are masked, so that `'*'` is not taken for a pattern.
"""

import re
from itertools import pairwise

from msgspec import Struct

from termvisor.policy.shell import quoting
from termvisor.policy.shell.syntax_node import SyntaxNode, UnreadableSyntax

UNKNOWN_TEXT = "\ue00f"
_HOME = "\ue00e"
_SPECIAL_CHARS = "{},*?[~"
_MASK_TABLE = {ord(sign): chr(0xE000 + at) for at, sign in enumerate(_SPECIAL_CHARS)}
_UNMASK_TABLE = {0xE000 + at: sign for at, sign in enumerate(_SPECIAL_CHARS)} | {ord(_HOME): "~"}
RESERVED_CHARS = re.compile("[\ue000-\ue00f]")
"""What a text from outside must not hold."""

_GLOB_CHARS = re.compile(r"[*?\[]")
_UNESCAPED_SPACE = re.compile(r"(?<!\\)(?:\\\\)*[ \t\n]")
_TRAILING_DOLLAR = re.compile(r"(?<!\\)(?:\\\\)*\$$")
_MAX_WORDS = 64
_TEXT_BY_VARIABLE = {"$HOME": _HOME, "${HOME}": _HOME, "$PWD": ".", "${PWD}": "."}
_EXPANSION_KINDS = (
    "command_substitution",
    "process_substitution",
    "arithmetic_expansion",
    "simple_expansion",
    "expansion",
)


class ShellWord(Struct, frozen=True):
    """``text`` has a HOLE where it is not known; ``start`` and ``end`` are characters of the source."""

    text: str
    start: int = 0
    end: int = 0
    is_pattern: bool = False

    @property
    def is_known(self) -> bool:
        return UNKNOWN_TEXT not in self.text


def expand_word(node: SyntaxNode) -> list[ShellWord]:
    """What one word of the source becomes; braces may make it several. Raises `Unreadable`."""
    return [_build_word(text, node) for text in _expand_braces(_mask_node(node))]


def _build_word(masked: str, node: SyntaxNode) -> ShellWord:
    text = masked.translate(_UNMASK_TABLE)
    text = f"./{text}" if masked.startswith(_MASK_TABLE[ord("~")]) else text
    return ShellWord(text, node.start, node.end, _GLOB_CHARS.search(masked) is not None)


def _mask_node(node: SyntaxNode) -> str:
    kind, raw = node.kind, node.text
    if kind in _EXPANSION_KINDS:
        return _TEXT_BY_VARIABLE.get(raw, UNKNOWN_TEXT)
    if kind == "raw_string":
        return _mask_text(raw[1:-1])
    if kind == "ansi_c_string":
        return _mask_text(quoting.decode_ansi_c(raw[2:-1]))
    if kind == "string":
        return _mask_double_quoted(node)
    if not node.named_children:
        if _UNESCAPED_SPACE.search(raw):
            raise UnreadableSyntax
        return _unescape_text(raw)
    pieces = node.children
    if any(one.end != other.start for one, other in pairwise(pieces)):
        raise UnreadableSyntax
    return "".join(_strip_dollar(one, other) for one, other in pairwise([*pieces, node]))


def _strip_dollar(piece: SyntaxNode, behind: SyntaxNode) -> str:
    """The `$` of `$"…"` means nothing; the grammar may leave it at the end of the piece before."""
    text = _mask_node(piece)
    is_sign = behind.kind == "string" and not piece.named_children and _TRAILING_DOLLAR.search(piece.text)
    return text[:-1] if is_sign and piece.kind not in ("raw_string", "ansi_c_string", "string") else text


def _mask_double_quoted(node: SyntaxNode) -> str:
    """Text between the parts of a string is its own; the grammar leaves some of it out of the tree."""
    source, start = node.text, node.start
    text, at = "", source.find('"') + 1
    for child in node.named_children:
        if child.kind in _EXPANSION_KINDS:
            text += _mask_text(quoting.decode_double_quoted(source[at : child.start - start])) + _mask_node(child)
            at = child.end - start
    return text + _mask_text(quoting.decode_double_quoted(source[at:-1]))


def _mask_text(text: str) -> str:
    return text.translate(_MASK_TABLE)


def _unescape_text(raw: str) -> str:
    """A backslash quotes the next character; before a newline both are gone."""
    return re.sub(r"\\(.?)", lambda found: _mask_text(found[1].replace("\n", "")), raw, flags=re.DOTALL)


def _expand_braces(text: str) -> list[str]:
    """Brace expansion. A sequence (`{1..9}`) is taken as a pattern; too many words as one that is not known."""
    todo: list[str] = [text]
    done: list[str] = []
    while todo:
        if len(todo) + len(done) > _MAX_WORDS:
            return [UNKNOWN_TEXT]
        one = todo.pop()
        parts = _expand_first_brace(one)
        if parts is None:
            done.append(one)
        else:
            todo += reversed(parts)
    return done


def _expand_first_brace(text: str) -> list[str] | None:
    """The texts that the first pair of braces stands for; None without one."""
    for found in re.finditer(r"\{", text):
        commas, end = _find_brace_end(text, found.end())
        before, inside = text[: found.start()], text[found.end() : end]
        if end and commas:
            cuts = [found.start(), *commas, end]
            return [before + text[a + 1 : b] + text[end + 1 :] for a, b in pairwise(cuts)]
        if end and re.fullmatch(r"-?\w+\.\.-?\w+(?:\.\.-?\d+)?", inside):
            return [f"{before}*{text[end + 1 :]}"]
    return None


def _find_brace_end(text: str, start: int) -> tuple[list[int], int]:
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

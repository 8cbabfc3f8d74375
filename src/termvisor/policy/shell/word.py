"""Expand a word as the shell would pass it to the program: quotes removed, braces expanded.

Text known only at run time (variables, substitutions) becomes UNKNOWN_TEXT. During expansion, quoted special characters
are replaced with private-use characters, so that `'*'` is not mistaken for a pattern.
"""

import re
from itertools import pairwise

from msgspec import Struct

from termvisor.policy.shell.grammar import SyntaxNode, UnreadableSyntax

UNKNOWN_TEXT = "\ue00f"
_HOME = "\ue00e"
_SPECIAL_CHARS = "{},*?[~"
_MASK_TABLE = {ord(char): chr(0xE000 + index) for index, char in enumerate(_SPECIAL_CHARS)}
_UNMASK_TABLE = {0xE000 + index: char for index, char in enumerate(_SPECIAL_CHARS)} | {ord(_HOME): "~"}
# Replacements for quoted characters. An analyzed text must not contain them.
RESERVED_CHARS = re.compile("[\ue000-\ue00f]")
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
_CONTROL_CHARS = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ANSI_ESCAPE = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c(?P<control>.)|(?P<plain>.))",
    re.DOTALL,
)
_DOUBLE_QUOTED_ESCAPE = re.compile(r"\\([\\$`\"\n])")


class ShellWord(Struct, frozen=True):
    """``text`` has UNKNOWN_TEXT in place of unknown parts; ``start`` and ``end`` are positions in the source."""

    text: str
    start: int = 0
    end: int = 0
    is_pattern: bool = False

    @property
    def is_known(self) -> bool:
        return UNKNOWN_TEXT not in self.text


def expand_word(node: SyntaxNode) -> list[ShellWord]:
    """Expand one word of the source. Braces may produce several words. Raises UnreadableSyntax."""
    return [_build_word(text, node) for text in _expand_braces(_mask_node(node))]


def _build_word(masked: str, node: SyntaxNode) -> ShellWord:
    text = masked.translate(_UNMASK_TABLE)
    text = f"./{text}" if masked.startswith(_MASK_TABLE[ord("~")]) else text  # a quoted ~ is an ordinary name
    return ShellWord(text, node.start, node.end, _GLOB_CHARS.search(masked) is not None)


def _mask_node(node: SyntaxNode) -> str:
    kind, raw = node.kind, node.text
    if kind in _EXPANSION_KINDS:
        return _TEXT_BY_VARIABLE.get(raw, UNKNOWN_TEXT)
    if kind == "raw_string":
        return _mask_text(raw[1:-1])
    if kind == "ansi_c_string":
        return _mask_text(decode_ansi_c(raw[2:-1]))
    if kind == "string":
        return _mask_double_quoted(node)
    if not node.named_children:
        if _UNESCAPED_SPACE.search(raw):
            raise UnreadableSyntax
        return _unescape_text(raw)
    pieces = node.children
    # In some words the grammar drops characters between two pieces, and their text would be missing here.
    if any(piece.end != following.start for piece, following in pairwise(pieces)):
        raise UnreadableSyntax
    return "".join(_strip_dollar(piece, following) for piece, following in pairwise([*pieces, node]))


def _strip_dollar(piece: SyntaxNode, following: SyntaxNode) -> str:
    """Drop the `$` of a following `$"…"`, which the grammar may leave at the end of this piece."""
    text = _mask_node(piece)
    has_dollar = following.kind == "string" and not piece.named_children and _TRAILING_DOLLAR.search(piece.text)
    return text[:-1] if has_dollar and piece.kind not in ("raw_string", "ansi_c_string", "string") else text


def _mask_double_quoted(node: SyntaxNode) -> str:
    """Mask a string based on its source text, because the tree omits some literal text."""
    source, start = node.text, node.start
    text, position = "", source.find('"') + 1
    for child in node.named_children:
        if child.kind in _EXPANSION_KINDS:
            literal = source[position : child.start - start]
            text += _mask_text(decode_double_quoted(literal)) + _mask_node(child)
            position = child.end - start
    return text + _mask_text(decode_double_quoted(source[position:-1]))


def _mask_text(text: str) -> str:
    return text.translate(_MASK_TABLE)


def _unescape_text(raw: str) -> str:
    """Remove backslashes and mask the characters they quote. A backslash-newline is removed entirely."""
    return re.sub(r"\\(.?)", lambda match: _mask_text(match[1].replace("\n", "")), raw, flags=re.DOTALL)


def _expand_braces(text: str) -> list[str]:
    """Expand braces. A sequence (`{1..9}`) becomes a pattern; more than _MAX_WORDS words become one unknown word."""
    todo: list[str] = [text]
    done: list[str] = []
    while todo:
        if len(todo) + len(done) > _MAX_WORDS:
            # The result of `{a,b}{a,b}{a,b}…` doubles with every pair.
            return [UNKNOWN_TEXT]
        word = todo.pop()
        expanded = _expand_first_brace(word)
        if expanded is None:
            done.append(word)
        else:
            todo += reversed(expanded)
    return done


def _expand_first_brace(text: str) -> list[str] | None:
    """Return the texts that the first pair of braces expands to; None if there are no braces."""
    for brace in re.finditer(r"\{", text):
        commas, end = _find_brace_end(text, brace.end())
        before, inside = text[: brace.start()], text[brace.end() : end]
        if end and commas:
            cuts = [brace.start(), *commas, end]
            return [before + text[a + 1 : b] + text[end + 1 :] for a, b in pairwise(cuts)]
        if end and re.fullmatch(r"-?\w+\.\.-?\w+(?:\.\.-?\d+)?", inside):
            return [f"{before}*{text[end + 1 :]}"]
    return None


def _find_brace_end(text: str, start: int) -> tuple[list[int], int]:
    """Return the positions of the commas at this level and of the closing brace (0 if there is none)."""
    commas, depth = [], 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "," and not depth:
            commas.append(index)
        elif text[index] == "}":
            depth -= 1
            if depth < 0:
                return commas, index
    return commas, 0


def decode_ansi_c(text: str) -> str:
    """Decode the content of `$'…'`."""
    return _ANSI_ESCAPE.sub(_decode_escape, text)


def decode_double_quoted(text: str) -> str:
    """Decode the content of `"…"`. A backslash escapes only `$`, a backquote, `"`, itself and a newline."""
    return _DOUBLE_QUOTED_ESCAPE.sub(lambda match: match[1].replace("\n", ""), text)


def _decode_escape(match: re.Match[str]) -> str:
    if match["plain"]:
        return _CONTROL_CHARS.get(match["plain"], match["plain"])
    if match["control"]:
        return chr(ord(match["control"]) & 0x1F)
    if match["octal"]:
        return _decode_character(int(match["octal"], 8) & 0xFF)
    return _decode_character(int(match["hex"] or match["short"] or match["long"], 16))


def _decode_character(number: int) -> str:
    # Rejects surrogates and, directly after them, U+E000 to U+E00F, which are our mask characters.
    is_text = 0 < number < 0x110000 and not 0xD800 <= number <= 0xE00F
    return chr(number) if is_text else "\ufffd"

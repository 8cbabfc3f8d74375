"""Parse shell scripts with tree-sitter's bash grammar, loaded on first use.

Text size and the number of operators are limited, because error recovery is quadratic in time and memory
(4,000 operators in a row took half a second and 200 MB). The parser gets ASCII only: on other characters the grammar's
scanner reads beyond the end of the C library's character tables and crashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Language, Node

# Longer texts are not parsed.
MAX_TEXT_CHARS = 4096
MAX_SIGNS = 300
_MAX_FIX_ROUNDS = 8
_SIGN = re.compile("[|&;()<>`$\\[\\]{}\"'=!*]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
TextFix = tuple[int, int, bytes]
# Replacement for a letter. No keyword of the grammar contains it.
FILLER = b"Z"
# Replacement for a `#`, which an analyzed text cannot contain.
DISABLED_COMMENT = "\ue00d"
_BACKSLASH, _DOLLAR = b"\\$"
_ESCAPE = re.compile(rb"\\.?", re.DOTALL)
_ESCAPED_DOLLAR = re.compile(rb"(?<!\\)(?:\\\\)*\\\$")
_ANSI_STRING = re.compile(rb"\$'(?:\\.|[^'\\])*'", re.DOTALL)
_STATEMENT_PREFIX = re.compile(rb"(?:time(?:[ \t]+-p)?(?:[ \t]+--)?(?![ \t]+-)|coproc)(?![^\s;&|()<>])")
_LINE_CONTINUATION = b"\\\n"
_WORD_KIND_NAMES = (
    "word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion"
    " brace_expression extglob_pattern regex variable_name command_substitution process_substitution"
    " arithmetic_expansion command_name"
)
# Kinds of nodes that are words or parts of words.
WORD_KINDS = frozenset(_WORD_KIND_NAMES.split())
SUBSTITUTION_KINDS = ("command_substitution", "process_substitution")


def parse_script(text: str) -> SyntaxNode | None:
    """Return the syntax tree; None if the text is too large or beyond repair, or the parser is not installed."""
    language = None if is_too_large(text) else _load_language()
    if language is None:
        return None
    from tree_sitter import Parser

    # Map every character to one byte, so that positions in the tree equal positions in the text.
    data = bytearray(_NON_ASCII.sub(FILLER.decode(), text).encode())
    for _ in range(_MAX_FIX_ROUNDS):
        root = SyntaxNode(Parser(language).parse(bytes(data)).root_node, text)
        fixes = list(find_fixes(root, data))
        if not fixes:
            return root
        for start, end, fill in fixes:
            data[start:end] = fill * (end - start)
    return None


def is_too_large(text: str) -> bool:
    return len(text) > MAX_TEXT_CHARS or len(_SIGN.findall(text)) > MAX_SIGNS


def disable_comments(text: str) -> str:
    """Change the text, keeping its length, so that it parses as in a shell without comments."""
    root = parse_script(text) if "#" in text else None
    chars = list(text)
    for node in root.iterate_descendants() if root else ():
        if node.kind == "comment":
            chars[node.start] = DISABLED_COMMENT
    return "".join(chars)


@lru_cache(1)
def _load_language() -> Language | None:
    try:
        from tree_sitter import Language

        return Language(_load_binding().language())
    except ImportError:  # without the parser every command is unparsed and requires approval
        return None


def _load_binding() -> Any:
    """Load the bash grammar's binding without its package, which would import a megabyte for highlighting."""
    package = find_spec("tree_sitter_bash")
    spec = package and PathFinder.find_spec("tree_sitter_bash._binding", package.submodule_search_locations)
    if not spec or spec.loader is None:
        raise ImportError("tree_sitter_bash is not installed")
    # The package's own __init__ is not executed.
    binding = module_from_spec(spec)
    spec.loader.exec_module(binding)
    return binding


def find_fixes(root: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    if _BACKSLASH in data or b'$"' in data:
        yield from _find_torn_words(root, data)
    if _STATEMENT_PREFIX.search(data):
        yield from _find_prefixes(root, data)


def _find_prefixes(root: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    """Blank out `time` and `coproc` before a statement, which the grammar mistakes for programs."""
    for node in root.iterate_descendants():
        prefix = _STATEMENT_PREFIX.match(data, node.start) if node.kind == "command_name" else None
        if prefix and node.text in ("time", "coproc"):
            yield prefix.start(), prefix.end(), b" "


def _find_torn_words(root: SyntaxNode, data: bytearray) -> Iterator[TextFix]:
    """Replace backslashes that the grammar, unlike a shell, treats as the end of a word or as space."""
    # Mark the bytes of all leaves: the grammar treated any backslash outside of them as space.
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
    """Replace the `$` of `$"…"`, which belongs to the word but is a separate token in the grammar."""
    dollar = node.start - 1
    if (
        node.kind == "string"
        and dollar >= 0
        and data[dollar] == _DOLLAR
        and not _ESCAPED_DOLLAR.search(data[max(0, dollar - 8) : dollar + 1])
    ):
        yield dollar, dollar + 1, FILLER


def _find_escapes(data: bytearray, start: int) -> set[int]:
    """Return the positions of backslashes in a `$'…'`. The grammar misses that `$'\\\\'` ends there."""
    whole = _ANSI_STRING.match(data, start)
    return {escape.start() for escape in _ESCAPE.finditer(data, start, whole.end())} if whole else set()


class UnreadableSyntax(Exception):
    """The tree is too deep, or a shell would parse the text differently."""


class SyntaxNode:
    """A node of the tree; ``text`` is the source from character ``start`` to ``end``."""

    __slots__ = ("_node", "_source")

    def __init__(self, node: Node, source: str):
        self._node, self._source = node, source

    @property
    def kind(self) -> str:
        return self._node.type

    @property
    def start(self) -> int:
        return self._node.start_byte

    @property
    def end(self) -> int:
        return self._node.end_byte

    @property
    def text(self) -> str:
        return self._source[self._node.start_byte : self._node.end_byte]

    @property
    def has_error(self) -> bool:
        return self._node.has_error

    @property
    def is_named(self) -> bool:
        """Return True unless the node is an operator or delimiter."""
        return self._node.is_named

    @property
    def named_children(self) -> list[SyntaxNode]:
        """Children without operators and delimiters."""
        return [SyntaxNode(node, self._source) for node in self._node.named_children]

    @property
    def children(self) -> list[SyntaxNode]:
        """Children with operators and delimiters."""
        return [SyntaxNode(node, self._source) for node in self._node.children]

    def iterate_descendants(self) -> Iterator[SyntaxNode]:
        """Iterate over this node and all named nodes below it, without recursion."""
        # Use an explicit stack, because a hostile text may nest deeper than Python's recursion limit.
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += node.named_children

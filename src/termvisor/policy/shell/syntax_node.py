"""Node of the syntax tree, with the text that the user wrote instead of the repaired copy that was parsed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD_KIND_NAMES = (
    "word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion"
    " brace_expression extglob_pattern regex variable_name command_substitution process_substitution"
    " arithmetic_expansion command_name"
)
WORD_KINDS = frozenset(_WORD_KIND_NAMES.split())
"""Kinds of nodes that are words, or parts of one."""
SUBSTITUTION_KINDS = ("command_substitution", "process_substitution")


class UnreadableSyntax(Exception):
    """The tree is too deep, or differs from how a shell would parse the text."""


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
        """Return True if it is not only an operator or delimiter."""
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
        todo = [self]
        while todo:
            node = todo.pop()
            yield node
            todo += node.named_children

"""A Part is a node of the grammar's tree, with the text that the user wrote and not the copy that was parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_WORD_KIND_NAMES = (
    "word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion"
)
_WORD_KIND_NAMES += " brace_expression extglob_pattern regex variable_name command_substitution process_substitution"
_WORD_KIND_NAMES += " arithmetic_expansion command_name"
WORD_KINDS = frozenset(_WORD_KIND_NAMES.split())
"""Kinds of parts that are words, or pieces of one."""
SUBSTITUTION_KINDS = ("command_substitution", "process_substitution")


class UnreadableSyntax(Exception):
    """The tree is deeper than anybody writes by hand, or is not how a shell would read the text."""


class SyntaxNode:
    """A node of the tree. ``start`` and ``end`` are characters of the source, ``text`` is what stands there."""

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
        """Whether it is more than a sign."""
        return self._node.is_named

    @property
    def named_children(self) -> list[SyntaxNode]:
        """What it consists of, without signs."""
        return [SyntaxNode(node, self._source) for node in self._node.named_children]

    @property
    def children(self) -> list[SyntaxNode]:
        """What it consists of, with signs."""
        return [SyntaxNode(node, self._source) for node in self._node.children]

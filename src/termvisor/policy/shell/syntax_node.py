"""A Part is a node of the grammar's tree, with the text that the user wrote and not the copy that was parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_KINDS = "word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion"
_KINDS += " brace_expression extglob_pattern regex variable_name command_substitution process_substitution"
_KINDS += " arithmetic_expansion command_name"
WORDS = frozenset(_KINDS.split())
"""Kinds of parts that are words, or pieces of one."""
SUBSTITUTIONS = ("command_substitution", "process_substitution")


class Unreadable(Exception):
    """The tree is deeper than anybody writes by hand, or is not how a shell would read the text."""


class Part:
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
    def parts(self) -> list[Part]:
        """What it consists of, without signs."""
        return [Part(node, self._source) for node in self._node.named_children]

    @property
    def pieces(self) -> list[Part]:
        """What it consists of, with signs."""
        return [Part(node, self._source) for node in self._node.children]

"""Parse shell scripts with tree-sitter's bash grammar, loaded on first use.

Only texts with a limited size and number of operators are parsed: error recovery is quadratic in time and memory
(4,000 operators in a row took half a second and 200 MB). The parser gets ASCII only: for other characters the grammar's
scanner reads beyond the end of the C library's character tables and crashes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from typing import TYPE_CHECKING, Any

from termvisor.policy.shell.grammar_fixes import FILLER, find_fixes
from termvisor.policy.shell.syntax_node import SyntaxNode

if TYPE_CHECKING:
    from tree_sitter import Language

MAX_TEXT_CHARS = 4096
"""Longer texts are not parsed."""
MAX_SIGNS = 300
_MAX_FIX_ROUNDS = 8
_SIGN = re.compile("[|&;()<>`$\\[\\]{}\"'=!*]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")


def parse_script(text: str) -> SyntaxNode | None:
    """Return the tree of a text; None if it is too large or cannot be repaired, or without the parser."""
    language = None if is_too_large(text) else _load_language()
    if language is None:
        return None
    from tree_sitter import Parser

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
    """Return the text, of the same length, so that it parses as in a shell without comments."""
    root = parse_script(text) if "#" in text else None
    chars = list(text)
    for node in root.iterate_descendants() if root else ():
        if node.kind == "comment":
            chars[node.start] = "_"
    return "".join(chars)


@lru_cache(1)
def _load_language() -> Language | None:
    try:
        from tree_sitter import Language

        return Language(_load_binding().language())
    except ImportError:  # without the parser every command is unparsed and requires approval
        return None


def _load_binding() -> Any:
    """Load the binding of the bash grammar without its package, which would import a megabyte for highlighting."""
    package = find_spec("tree_sitter_bash")
    spec = package and PathFinder.find_spec("tree_sitter_bash._binding", package.submodule_search_locations)
    if not spec or spec.loader is None:
        raise ImportError("tree_sitter_bash is not installed")
    binding = module_from_spec(spec)
    spec.loader.exec_module(binding)
    return binding

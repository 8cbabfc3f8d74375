"""The shell's grammar: tree-sitter, loaded when the first command is looked at.

Only texts of a bounded size and a bounded number of signs are parsed. Mending a broken text may cost the parser time
and memory by the square: 4,000 signs in a row took half a second and 200 MB. It never sees a character beyond ASCII:
the grammar's scanner asks the C library's character tables about them, far behind their end, and crashes.
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
"""Characters of a text that is parsed."""
MAX_SIGNS = 300
_MAX_FIX_ROUNDS = 8
_SIGN = re.compile("[|&;()<>`$\\[\\]{}\"'=!*]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")


def parse_script(text: str) -> SyntaxNode | None:
    """The tree of a text; None for one that is too large or cannot be mended, or without the parser."""
    language = None if is_too_large(text) else _load_language()
    if language is None:
        return None
    from tree_sitter import Parser

    data = bytearray(_NON_ASCII.sub(FILLER.decode(), text).encode())
    for _ in range(_MAX_FIX_ROUNDS):
        root = SyntaxNode(Parser(language).parse(bytes(data)).root_node, text)
        found = list(find_fixes(root, data))
        if not found:
            return root
        for start, end, fill in found:
            data[start:end] = fill * (end - start)
    return None


def is_too_large(text: str) -> bool:
    return len(text) > MAX_TEXT_CHARS or len(_SIGN.findall(text)) > MAX_SIGNS


def disable_comments(text: str) -> str:
    """The text, of the same length, as a shell reads it that has no comments."""
    root = parse_script(text) if "#" in text else None
    letters, todo = list(text), [root] if root else []
    while todo:
        part = todo.pop()
        todo += part.named_children
        if part.kind == "comment":
            letters[part.start] = "_"
    return "".join(letters)


@lru_cache(1)
def _load_language() -> Language | None:
    try:
        from tree_sitter import Language

        return Language(_load_binding().language())
    except ImportError:  # then every command is one that cannot be read, and is asked about
        return None


def _load_binding() -> Any:
    """Bash's grammar alone: its package would load a megabyte to find texts that colour programs."""
    package = find_spec("tree_sitter_bash")
    found = package and PathFinder.find_spec("tree_sitter_bash._binding", package.submodule_search_locations)
    if not found or found.loader is None:
        raise ImportError("there is no grammar of bash")
    binding = module_from_spec(found)
    found.loader.exec_module(binding)
    return binding

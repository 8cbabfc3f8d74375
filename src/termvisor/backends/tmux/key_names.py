"""The names of keys that tmux knows. It would type an unknown name as text, letter by letter."""

import re

_EDITING = ("Enter", "Escape", "Tab", "BTab", "Space", "BSpace", "Insert", "IC", "Delete", "DC")
_MOVING = ("Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PgUp", "PPage", "PageDown", "PgDn", "NPage")
NAMED = frozenset((*_EDITING, *_MOVING, *(f"F{number}" for number in range(1, 13))))
_MODIFIED = re.compile(r"(?:[CMS]-){0,3}(.+)", re.DOTALL)


def is_key(name: str) -> bool:
    """``C-c``, ``M-Enter``, ``Up``, ``é``: a name of a key, or one printable character, with or without modifiers."""
    if len(name) == 1:
        return name.isprintable()
    found = _MODIFIED.fullmatch(name)
    if found is None:
        return False
    bare = found[1]
    return bare in NAMED or (len(bare) == 1 and bare.isprintable() and bare.isascii() and bare != " ")

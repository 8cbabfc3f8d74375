"""The names of keys that tmux knows. It would type an unknown name as text, letter by letter."""

import re

_EDITING_KEYS = ("Enter", "Escape", "Tab", "BTab", "Space", "BSpace", "Insert", "IC", "Delete", "DC")
_NAVIGATION_KEYS = (
    "Up",
    "Down",
    "Left",
    "Right",
    "Home",
    "End",
    "PageUp",
    "PgUp",
    "PPage",
    "PageDown",
    "PgDn",
    "NPage",
)
KEY_NAMES = frozenset((*_EDITING_KEYS, *_NAVIGATION_KEYS, *(f"F{number}" for number in range(1, 13))))
_MODIFIED_KEY = re.compile(r"(?:[CMS]-){0,3}(.+)", re.DOTALL)


def is_key_name(name: str) -> bool:
    """``C-c``, ``M-Enter``, ``Up``, ``é``: a name of a key, or one printable character, with or without modifiers."""
    if len(name) == 1:
        return name.isprintable()
    found = _MODIFIED_KEY.fullmatch(name)
    if found is None:
        return False
    bare = found[1]
    return bare in KEY_NAMES or (len(bare) == 1 and bare.isprintable() and bare.isascii() and bare != " ")

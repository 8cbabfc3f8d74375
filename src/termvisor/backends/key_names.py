"""The names of keys that can be pressed in a pane, the same for every backend: ``Enter``, ``C-c``, ``Up``, ``é``."""

import re

_EDITING_KEYS = "Enter Escape Tab BTab Space BSpace Insert IC Delete DC"
_NAVIGATION_KEYS = "Up Down Left Right Home End PageUp PgUp PPage PageDown PgDn NPage"
_FUNCTION_KEYS = "F1 F2 F3 F4 F5 F6 F7 F8 F9 F10 F11 F12"
KEY_NAMES = frozenset(f"{_EDITING_KEYS} {_NAVIGATION_KEYS} {_FUNCTION_KEYS}".split())
_MODIFIED_KEY = re.compile(r"(?:[CMS]-){0,3}(.+)", re.DOTALL)


def is_key_name(name: str) -> bool:
    """Return True for a key name or a single printable character, with or without modifiers: ``C-c``, ``Up``, ``é``."""
    if len(name) == 1:
        return name.isprintable()
    match = _MODIFIED_KEY.fullmatch(name)
    if match is None:
        return False
    key = match[1]
    return key in KEY_NAMES or (len(key) == 1 and key.isprintable() and key.isascii() and key != " ")

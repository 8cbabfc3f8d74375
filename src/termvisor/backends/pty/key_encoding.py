"""Encode key names as the bytes that an xterm sends for them."""

from collections.abc import Sequence

from termvisor.backends.key_names import is_key_name
from termvisor.errors import BadRequest

_SHIFT, _ALT, _CONTROL = 1, 2, 4
_MODIFIERS = {"S": _SHIFT, "M": _ALT, "C": _CONTROL}
_PLAIN = {"Enter": b"\r", "Escape": b"\x1b", "Tab": b"\t", "BTab": b"\x1b[Z", "Space": b" ", "BSpace": b"\x7f"}
_LETTER_KEYS = {"Up": "A", "Down": "B", "Right": "C", "Left": "D", "Home": "H", "End": "F"}
_LETTER_KEYS |= {"F1": "P", "F2": "Q", "F3": "R", "F4": "S"}
_FUNCTION_KEYS = frozenset({"F1", "F2", "F3", "F4"})
_NUMBER_KEYS = {"Insert": 2, "IC": 2, "Delete": 3, "DC": 3, "PageUp": 5, "PgUp": 5, "PPage": 5}
_NUMBER_KEYS |= {"PageDown": 6, "PgDn": 6, "NPage": 6, "F5": 15, "F6": 17, "F7": 18, "F8": 19, "F9": 20}
_NUMBER_KEYS |= {"F10": 21, "F11": 23, "F12": 24}
_CONTROL_CHARACTERS = {"@": 0, " ": 0, "[": 27, "\\": 28, "]": 29, "^": 30, "_": 31, "?": 127}


def encode_keys(keys: Sequence[str], *, application_cursor: bool = False) -> bytes:
    """Return the bytes of all keys. Raises BadRequest for an unknown key, before any is encoded."""
    for key in keys:
        if not is_key_name(key):
            raise BadRequest(f"unknown key {key!r}", hint="Examples: Enter, C-c, Up, F5, M-x, é.")
    return b"".join(_encode_key(key, application_cursor) for key in keys)


def _encode_key(key: str, application_cursor: bool) -> bytes:
    modifiers = 0
    while len(key) > 2 and key[1] == "-" and key[0] in _MODIFIERS:
        modifiers |= _MODIFIERS[key[0]]
        key = key[2:]
    if key in _LETTER_KEYS:
        return _encode_letter_key(key, modifiers, application_cursor)
    if key in _NUMBER_KEYS:
        suffix = f";{modifiers + 1}" if modifiers else ""
        return f"\x1b[{_NUMBER_KEYS[key]}{suffix}~".encode()
    if key == "Tab" and modifiers & _SHIFT:
        key = "BTab"
    code = _PLAIN[key] if key in _PLAIN else key.encode()
    if modifiers & _SHIFT and len(key) == 1:
        code = key.upper().encode()
    if modifiers & _CONTROL:
        code = _encode_control(code)
    return b"\x1b" + code if modifiers & _ALT else code


def _encode_letter_key(key: str, modifiers: int, application_cursor: bool) -> bytes:
    letter = _LETTER_KEYS[key]
    if modifiers:
        return f"\x1b[1;{modifiers + 1}{letter}".encode()
    is_application = application_cursor or key in _FUNCTION_KEYS
    return f"\x1b{'O' if is_application else '['}{letter}".encode()


def _encode_control(code: bytes) -> bytes:
    """Return the control character of an ASCII character; other keys have none and stay as they are."""
    character = code.decode("utf-8", "replace").upper()
    if character in _CONTROL_CHARACTERS:
        return bytes([_CONTROL_CHARACTERS[character]])
    return bytes([ord(character) & 0x1F]) if character.isascii() and character.isalpha() else code

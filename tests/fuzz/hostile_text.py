"""What no face may let through to the terminal of who reads, and how a world becomes full of it."""

import re
from typing import Any, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

FORBIDDEN_CHARACTERS = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} - {"\n", "\t"}
FORBIDDEN_CHARACTERS |= set(
    "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
TRUSTED_FIELDS = ("operation",)
"""Fields whose words are always our own."""
SGR_SEQUENCE = re.compile(r"\x1b\[[0-9;:]*m")


def find_control_characters(text: str, *, colours: bool = False) -> set[str]:
    """The forbidden characters in a face's output; SGR colours are our own, where they were asked for."""
    return FORBIDDEN_CHARACTERS & set(SGR_SEQUENCE.sub("", text) if colours else text)


def poison_value(value: Any, evil: str) -> Any:
    """The same value with evil in the place of every free text; ids and words of closed lists stay."""
    if isinstance(value, Struct):
        hints = get_type_hints(type(value))
        fields = {
            name: (hints[name], getattr(value, name)) for name in value.__struct_fields__ if name not in TRUSTED_FIELDS
        }
        return replace(value, **{name: _poison_field(hint, inner, evil) for name, (hint, inner) in fields.items()})
    if isinstance(value, str):
        return evil
    if isinstance(value, (tuple, list)):
        return type(value)(poison_value(item, evil) for item in value)
    if isinstance(value, dict):
        return {key: poison_value(item, evil) for key, item in value.items()}
    return value


def _poison_field(hint: Any, value: Any, evil: str) -> Any:
    is_closed = isinstance(value, str) and hint not in (str, str | None)
    return value if is_closed else poison_value(value, evil)

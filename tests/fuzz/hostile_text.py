"""Characters that no output may pass on to a terminal, and values filled with hostile text."""

import re
from typing import Any, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

FORBIDDEN_CHARACTERS = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0))} - {"\n", "\t"}
FORBIDDEN_CHARACTERS |= set(
    "\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)
TRUSTED_FIELDS = ("operation",)
"""Fields that never hold text from outside."""
SGR_SEQUENCE = re.compile(r"\x1b\[[0-9;:]*m")


def find_control_characters(text: str, *, colours: bool = False) -> set[str]:
    """Return the forbidden characters in an output; with `colours`, SGR sequences are allowed."""
    return FORBIDDEN_CHARACTERS & set(SGR_SEQUENCE.sub("", text) if colours else text)


def poison_value(value: Any, hostile: str) -> Any:
    """Return the value with hostile text in place of every free text; ids and enumerated values stay."""
    if isinstance(value, Struct):
        hints = get_type_hints(type(value))
        fields = {
            name: (hints[name], getattr(value, name)) for name in value.__struct_fields__ if name not in TRUSTED_FIELDS
        }
        return replace(value, **{name: _poison_field(hint, inner, hostile) for name, (hint, inner) in fields.items()})
    if isinstance(value, str):
        return hostile
    if isinstance(value, (tuple, list)):
        return type(value)(poison_value(item, hostile) for item in value)
    if isinstance(value, dict):
        return {key: poison_value(item, hostile) for key, item in value.items()}
    return value


def _poison_field(hint: Any, value: Any, hostile: str) -> Any:
    is_closed = isinstance(value, str) and hint not in (str, str | None)
    return value if is_closed else poison_value(value, hostile)

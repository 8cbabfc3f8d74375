"""Read untrusted JSON without exceptions. A value that is missing or of another type is returned as empty."""

from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

import msgspec

NS_PER_MS, NS_PER_SECOND = 10**6, 10**9
JsonObject = Mapping[str, object]
ValueT = TypeVar("ValueT")
EMPTY_OBJECT: JsonObject = {}
# Lone surrogates cannot be encoded for the parser, and msgspec recurses into nested values.
JSON_ERRORS = (msgspec.DecodeError, UnicodeEncodeError, RecursionError)


def decode_json(text: str | bytes, value_type: type[ValueT]) -> ValueT | None:
    """Parse JSON of this type; None if the text is anything else."""
    try:
        return msgspec.json.decode(text, type=value_type)
    except JSON_ERRORS:
        return None


def parse_json_object(text: str) -> JsonObject | None:
    """Parse a JSON object; None if the text is anything else."""
    try:
        # Decoded without a type, which would take five times as long.
        value = msgspec.json.decode(text)
    except JSON_ERRORS:
        return None
    return value if isinstance(value, dict) else None


def get_object(value: JsonObject, *names: str) -> JsonObject:
    """Return the nested object at this path; empty if there is none."""
    for name in names:
        inner = value.get(name)
        value = inner if isinstance(inner, dict) else EMPTY_OBJECT
    return value


def get_str(value: JsonObject, name: str) -> str:
    text = value.get(name)
    return text if isinstance(text, str) else ""


def get_int(value: JsonObject, name: str) -> int | None:
    """Return a number from 0 to 10**15 as an integer; None for anything else."""
    number = value.get(name)
    if not isinstance(number, int | float) or isinstance(number, bool):
        return None
    return int(number) if 0 <= number < 10**15 else None


def parse_timestamp(value: object) -> int:
    """Return nanoseconds since 1970, from milliseconds or ISO 8601 with a zone; 0 for anything else."""
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
            return int(time.timestamp() * 1000) * NS_PER_MS if time.tzinfo else 0
        except (ValueError, OverflowError):
            return 0
    return int(value) * NS_PER_MS if isinstance(value, int) and 0 < value < 10**15 else 0

"""Safe ways to look into JSON of strangers: what is missing or of another kind is empty, and nothing is raised."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

NS_PER_MS, NS_PER_SECOND = 10**6, 10**9
JsonObject = Mapping[str, object]
EMPTY_OBJECT: JsonObject = {}
JSON_ERRORS = (msgspec.DecodeError, UnicodeEncodeError, RecursionError)
"""What reading it may raise."""


def parse_json_object(message: str) -> JsonObject | None:
    """None for what is no JSON object."""
    try:
        value = msgspec.json.decode(message)
    except JSON_ERRORS:
        return None
    return value if isinstance(value, dict) else None


def get_object(value: JsonObject, *names: str) -> JsonObject:
    """The object at that place; an empty one where there is none."""
    for name in names:
        found = value.get(name)
        value = found if isinstance(found, dict) else EMPTY_OBJECT
    return value


def get_str(value: JsonObject, name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def get_int(value: JsonObject, name: str) -> int | None:
    """None for what is no count."""
    found = value.get(name)
    if not isinstance(found, int | float) or isinstance(found, bool):
        return None
    return int(found) if 0 <= found < 10**15 else None


def parse_timestamp(value: object) -> int:
    """Nanoseconds since 1970, from milliseconds or as ISO 8601 with its zone; 0 where nothing is told."""
    if isinstance(value, str):
        try:
            when = datetime.fromisoformat(value)
            return int(when.timestamp() * 1000) * NS_PER_MS if when.tzinfo else 0
        except (ValueError, OverflowError):
            return 0
    return int(value) * NS_PER_MS if isinstance(value, int) and 0 < value < 10**15 else 0

"""Redact secrets in text written by agents; JSON remains valid JSON.

Strings are redacted one by one: in JSON a secret may contain escapes, and its name may be the key of another string.
"""

from collections.abc import Iterator

import msgspec

from termvisor.redaction import redact

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


def redact_json_text(text: str) -> str:
    """Return the text unchanged if it contains no secret."""
    try:
        value: JsonValue = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return redact(text)
    joined = "\n".join(_iterate_strings(value))
    return text if redact(joined) == joined else msgspec.json.encode(_redact_value(value)).decode()


def _iterate_strings(value: JsonValue, name: str = "") -> Iterator[str]:
    if isinstance(value, str):
        yield f"{name}={value}" if name else value
    elif isinstance(value, list):
        for item in value:
            yield from _iterate_strings(item, name)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _iterate_strings(item, key)


def _redact_value(value: JsonValue, name: str = "") -> JsonValue:
    if isinstance(value, str):
        redacted = redact(value)
        return redacted if redacted != value or not name else _redact_named_value(value, redact(name))
    if isinstance(value, list):
        return [_redact_value(item, name) for item in value]
    if isinstance(value, dict):
        return {redact(key): _redact_value(item, key) for key, item in value.items()}
    return value


def _redact_named_value(value: str, name: str) -> str:
    """Redact a value that is a secret only because of its key, such as a password."""
    return redact(f"{name}={value}").removeprefix(f"{name}=")

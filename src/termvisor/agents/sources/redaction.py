"""Redact secrets in text written by agents; JSON remains valid JSON.

Strings are redacted one by one: in JSON a secret may contain escapes, and its name may be the key of another string.
"""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from termvisor.model.agent.agent_process import Fact
from termvisor.model.agent.signal import Signal
from termvisor.redaction import redact, redact_each

JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]


def redact_json_text(text: str) -> str:
    """Return the text unchanged if it contains no secret."""
    try:
        value: JsonValue = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        # A title, a mark or a line that was cut off is plain text.
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
        if redacted != value or not name:
            return redacted
        # A password is a secret only because of its key.
        prefix = f"{redact(name)}="
        return redact(prefix + value).removeprefix(prefix)
    if isinstance(value, list):
        return [_redact_value(item, name) for item in value]
    if isinstance(value, dict):
        return {redact(key): _redact_value(item, key) for key, item in value.items()}
    return value


MAX_TEXT_CHARS = 2000
_MAX_PAYLOAD_KEYS = 32


def redact_fact(fact: Fact) -> Fact:
    if not isinstance(fact, Signal) or not (fact.payload or fact.title):
        return fact
    items = list(fact.payload.items())[:_MAX_PAYLOAD_KEYS]
    texts = [value for _, value in items if isinstance(value, str)]
    redacted = iter(redact_each([*texts, *([fact.title] if fact.title else [])]))
    payload = {name[:64]: next(redacted)[:MAX_TEXT_CHARS] if isinstance(value, str) else value for name, value in items}
    return replace(fact, payload=payload, title=next(redacted)[:MAX_TEXT_CHARS] if fact.title else fact.title)

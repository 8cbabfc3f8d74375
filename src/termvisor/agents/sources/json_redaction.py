"""Secrets out of what agents wrote, so that it can still be read: JSON stays JSON.

Inside JSON a secret may stand behind escapes, and its name in another string, so the strings are looked at one by one.
"""

from collections.abc import Iterator

import msgspec

from termvisor.redaction import redact

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def clean(text: str) -> str:
    """The text itself where nothing is to be hidden."""
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return redact(text)
    joined = "\n".join(_strings(value))
    return text if redact(joined) == joined else msgspec.json.encode(_cleaned(value)).decode()


def _strings(value: Json, name: str = "") -> Iterator[str]:
    if isinstance(value, str):
        yield f"{name}={value}" if name else value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item, name)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item, key)


def _cleaned(value: Json, name: str = "") -> Json:
    if isinstance(value, str):
        shown = redact(value)
        return shown if shown != value or not name else _by_name(value, redact(name))
    if isinstance(value, list):
        return [_cleaned(item, name) for item in value]
    if isinstance(value, dict):
        return {redact(key): _cleaned(item, key) for key, item in value.items()}
    return value


def _by_name(value: str, name: str) -> str:
    """A value that is a secret only because of what it is called."""
    return redact(f"{name}={value}").removeprefix(f"{name}=")

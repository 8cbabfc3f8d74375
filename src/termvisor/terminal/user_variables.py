"""Parse user variables that programs set for Termvisor (OSC 1337 SetUserVar, names `visor-*`) into events.

Any program can print such a variable. It is proven only if it contains our nonce, which is removed before anything is
stored. Malformed variables are ignored. Invariant: nothing here raises, whatever was printed.
"""

import re
from base64 import b64decode
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.redaction import redact

NAME_PREFIX = "visor-"
MAX_VALUE_LENGTH = 4096
MAX_EVENTS_PER_SECOND = 10
"""Limit per pane. The next event reports how many were dropped."""

UserVariableKind = Literal["prompt", "ready", "checkpoint", "event"]
_NAME_PATTERN = re.compile(r"visor-(?:(prompt|ready|checkpoint)(?:-[\w.-]{1,48})?|[\w.-]{1,64})", re.ASCII)
_KIND_BY_NAME: dict[str | None, UserVariableKind] = {"prompt": "prompt", "ready": "ready", "checkpoint": "checkpoint"}


class UserVariable(Struct, frozen=True, kw_only=True):
    """A parsed variable; ``value`` is JSON, redacted and bounded."""

    name: str
    kind: UserVariableKind
    value: str
    is_proven: bool = False


class VariableRate(Struct, frozen=True, array_like=True):
    """Counts of variables in the current second and of those dropped since the last admitted. Stored by position."""

    second: int = 0
    count: int = 0
    dropped: int = 0


def is_variable_name(text: str) -> bool:
    return _NAME_PATTERN.fullmatch(text) is not None


def parse_variable(name: str, value: str, nonce: str | None) -> UserVariable | None:
    """Parse a variable whose value is JSON; return None if it is malformed or too long."""
    match = _NAME_PATTERN.fullmatch(name)
    if match is None or len(value) > MAX_VALUE_LENGTH:
        return None
    try:
        decoded = msgspec.json.decode(value)
        public, is_proven = _remove_nonce(decoded, nonce)
        text = msgspec.json.encode(public).decode()
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        # Pane output may be anything, even deeply nested JSON.
        return None
    if nonce:
        text = text.replace(nonce, "[nonce]")
    kind = _KIND_BY_NAME.get(match[1], "event")
    return UserVariable(name=redact(name), kind=kind, value=redact(text)[:MAX_VALUE_LENGTH], is_proven=is_proven)


def decode_value(value: str) -> str:
    """Return the JSON text, decoded from base64 if necessary, as terminals pass it on."""
    try:
        msgspec.json.decode(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        try:
            return b64decode(value, validate=True).decode()
        except ValueError:
            # Neither JSON nor base64: parse_variable rejects it.
            return value
    return value


def admit_variable(rate: VariableRate, at: int) -> tuple[VariableRate, bool]:
    """Apply the rate limit; return the new state and whether the variable is admitted."""
    second = at // NS
    if second != rate.second:
        rate = VariableRate(second, 0, rate.dropped)
    if rate.count >= MAX_EVENTS_PER_SECOND:
        return replace(rate, dropped=rate.dropped + 1), False
    return VariableRate(second, rate.count + 1, 0), True


def build_event(
    pane: PaneId, at: int, variable: UserVariable, dropped: int, source: Literal["stream", "call"]
) -> Event:
    data: dict[str, str | int | bool] = {
        "name": variable.name,
        "kind": variable.kind,
        "value": variable.value,
        "proven": variable.is_proven,
        "source": source,
    }
    return Event(at=at, kind="user_var", pane=pane, data={**data, **({"dropped": dropped} if dropped else {})})


def build_detection(pane: PaneId, at: int, variable: UserVariable) -> Detection | None:
    """Build the detection of an `event` variable; unproven ones get a low confidence.

    Returns None for variables that only report progress.
    """
    if variable.kind != "event":
        return None
    return Detection(
        at=at,
        type="user_var",
        rule=f"user_var.{variable.name}",
        pane=pane,
        captures={"name": variable.name, "value": variable.value},
        source="user_var",
        evidence={"proven": variable.is_proven},
        confidence=1.0 if variable.is_proven else 0.1,
        cooldown=0.0,
    )


def _remove_nonce(decoded: Any, nonce: str | None) -> tuple[Any, bool]:
    if not isinstance(decoded, dict) or "nonce" not in decoded:
        return decoded, False
    rest = {key: value for key, value in decoded.items() if key != "nonce"}
    return rest, nonce is not None and decoded["nonce"] == nonce

"""The envelope every machine answer comes in. Additive changes keep `SCHEMA_VERSION`; a breaking one bumps it.

Encoding never fails on text: what is not valid Unicode is replaced. Nor does it pass on what a terminal would obey.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from termvisor import __version__
from termvisor.clock import NS, Clock, iso
from termvisor.errors import Broken, Detail, VisorError
from termvisor.log import logger
from termvisor.redaction import redact

SCHEMA_VERSION = 1
_UNSEEN = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2(?:\x80[\x8e\x8f\xa8-\xae]|\x81[\xa6-\xa9])|\xef\xbb\xbf")


class Failure(Struct, frozen=True, kw_only=True):
    """``code`` is stable and meant for programs, ``message`` for people."""

    code: str
    message: str
    details: dict[str, Detail] = {}


class Envelope(Struct, frozen=True, kw_only=True):
    """``ok`` says whether ``data`` or ``error`` holds the answer; ``hint`` says what to do next."""

    ok: bool
    data: Any = None
    error: Failure | None = None
    hint: str | None = None
    elapsed_ms: float
    version: str = __version__
    schema_version: int = SCHEMA_VERSION
    now: str


def success(data: Struct, clock: Clock, started: float) -> Envelope:
    return Envelope(ok=True, data=data, elapsed_ms=_elapsed(clock, started), now=iso(clock.now()))


def failure(error: VisorError, clock: Clock, started: float) -> Envelope:
    told = Failure(code=error.code, message=error.message, details=error.details)
    return Envelope(ok=False, error=told, hint=error.hint, elapsed_ms=_elapsed(clock, started), now=iso(clock.now()))


def _elapsed(clock: Clock, started: float) -> float:
    return round((clock.monotonic() - started) * 1000, 3)


def encode(value: Struct) -> bytes:
    """One compact JSON line that a terminal can show: what it would obey is escaped."""
    try:
        return _escaped(msgspec.json.encode(value)) + b"\n"
    except UnicodeEncodeError:
        return _escaped(msgspec.json.encode(_valid(msgspec.to_builtins(value)))) + b"\n"


def _escaped(data: bytes) -> bytes:
    """JSON escapes C0 only; here C1, DEL and the unseen signs of direction are escaped too, and mean the same."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return _UNSEEN.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), data)


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_valid(key): _valid(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_valid(item) for item in value]
    return value


def told(error: Exception) -> VisorError:
    """Any exception as one that may be shown; what we did not expect is logged with its trace and named `internal`."""
    if isinstance(error, VisorError):
        return error
    logger("ops").error("unexpected %s", type(error).__name__, exc_info=error)
    return Broken(f"internal error: {type(error).__name__}: {redact(str(error))}")


def seconds_between(start: int, end: int) -> float:
    """The time from one instant to another, to the millisecond."""
    return round((end - start) / NS, 3)

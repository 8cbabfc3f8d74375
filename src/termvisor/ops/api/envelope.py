"""The envelope every machine answer comes in. Additive changes keep `SCHEMA_VERSION`; a breaking one bumps it.

Encoding never fails on text: what is not valid Unicode is replaced. Nor does it pass on what a terminal would obey.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from termvisor import __version__
from termvisor.clock import NS, Clock, format_timestamp
from termvisor.errors import ErrorDetail, InternalError, VisorError
from termvisor.log import get_logger
from termvisor.redaction import redact

SCHEMA_VERSION = 1
_INVISIBLE_BYTES = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2(?:\x80[\x8e\x8f\xa8-\xae]|\x81[\xa6-\xa9])|\xef\xbb\xbf"
)


class ErrorBody(Struct, frozen=True, kw_only=True):
    """``code`` is stable and meant for programs, ``message`` for people."""

    code: str
    message: str
    details: dict[str, ErrorDetail] = {}


class Envelope(Struct, frozen=True, kw_only=True):
    """``ok`` says whether ``data`` or ``error`` holds the answer; ``hint`` says what to do next."""

    ok: bool
    data: Any = None
    error: ErrorBody | None = None
    hint: str | None = None
    elapsed_ms: float
    version: str = __version__
    schema_version: int = SCHEMA_VERSION
    now: str


def build_success(data: Struct, clock: Clock, started_at: float) -> Envelope:
    return Envelope(
        ok=True, data=data, elapsed_ms=_compute_elapsed_ms(clock, started_at), now=format_timestamp(clock.now())
    )


def build_failure(error: VisorError, clock: Clock, started_at: float) -> Envelope:
    told = ErrorBody(code=error.code, message=error.message, details=error.details)
    return Envelope(
        ok=False,
        error=told,
        hint=error.hint,
        elapsed_ms=_compute_elapsed_ms(clock, started_at),
        now=format_timestamp(clock.now()),
    )


def _compute_elapsed_ms(clock: Clock, started_at: float) -> float:
    return round((clock.monotonic() - started_at) * 1000, 3)


def encode_json_line(value: Struct) -> bytes:
    """One compact JSON line that a terminal can show: what it would obey is escaped."""
    try:
        return _escape_invisible(msgspec.json.encode(value)) + b"\n"
    except UnicodeEncodeError:
        return _escape_invisible(msgspec.json.encode(_replace_invalid_unicode(msgspec.to_builtins(value)))) + b"\n"


def _escape_invisible(data: bytes) -> bytes:
    """JSON escapes C0 only; here C1, DEL and the unseen signs of direction are escaped too, and mean the same."""
    if data.isascii() and b"\x7f" not in data:
        return data
    return _INVISIBLE_BYTES.sub(lambda found: b"\\u%04x" % ord(found[0].decode()), data)


def _replace_invalid_unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_replace_invalid_unicode(key): _replace_invalid_unicode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_invalid_unicode(item) for item in value]
    return value


def convert_exception(error: Exception) -> VisorError:
    """Any exception as one that may be shown; what we did not expect is logged with its trace and named `internal`."""
    if isinstance(error, VisorError):
        return error
    get_logger("ops").error("unexpected %s", type(error).__name__, exc_info=error)
    return InternalError(f"internal error: {type(error).__name__}: {redact(str(error))}")


def compute_seconds_between(start: int, end: int) -> float:
    """The time from one instant to another, to the millisecond."""
    return round((end - start) / NS, 3)

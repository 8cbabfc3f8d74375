"""Build and encode the JSON envelope of every machine-readable answer.

Additive changes keep `SCHEMA_VERSION`; a breaking one increments it. Encoding never fails on text: invalid Unicode is
replaced, and characters that a terminal would interpret are escaped.
"""

import re
from typing import Any

import msgspec
from msgspec import Struct

from termvisor import __version__
from termvisor.clock import Clock, format_timestamp
from termvisor.errors import ErrorDetail, InternalError, VisorError
from termvisor.log import get_logger
from termvisor.redaction import redact

SCHEMA_VERSION = 1
_INVISIBLE_BYTES = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2(?:\x80[\x8e\x8f\xa8-\xae]|\x81[\xa6-\xa9])|\xef\xbb\xbf"
)
"""UTF-8 of DEL, C1 controls, direction marks, line separators and the byte order mark."""


class ErrorBody(Struct, frozen=True, kw_only=True):
    """``code`` is stable, for programs; ``message`` is for users."""

    code: str
    message: str
    details: dict[str, ErrorDetail] = {}


class Envelope(Struct, frozen=True, kw_only=True):
    """The answer: ``data`` if ``ok``, else ``error``. ``hint`` says what to do next: about an error always."""

    ok: bool
    data: Any = None
    error: ErrorBody | None = None
    hint: str | None = None
    elapsed_ms: float
    version: str = __version__
    schema_version: int = SCHEMA_VERSION
    now: str


def build_success(data: Any, clock: Clock, started_at: float, hint: str | None = None) -> Envelope:
    elapsed_ms = _compute_elapsed_ms(clock, started_at)
    return Envelope(ok=True, data=data, hint=hint, elapsed_ms=elapsed_ms, now=format_timestamp(clock.now()))


def build_failure(error: VisorError, clock: Clock, started_at: float) -> Envelope:
    return Envelope(
        ok=False,
        error=ErrorBody(code=error.code, message=error.message, details=error.details),
        hint=error.hint,
        elapsed_ms=_compute_elapsed_ms(clock, started_at),
        now=format_timestamp(clock.now()),
    )


def _compute_elapsed_ms(clock: Clock, started_at: float) -> float:
    return round((clock.monotonic() - started_at) * 1000, 3)


def encode_json_line(value: Any) -> bytes:
    """Encode a value as one compact JSON line that is safe to print in a terminal."""
    try:
        return _escape_invisible(msgspec.json.encode(value)) + b"\n"
    except UnicodeEncodeError:  # lone surrogates, for example from file names that are not UTF-8
        return _escape_invisible(msgspec.json.encode(_replace_invalid_unicode(msgspec.to_builtins(value)))) + b"\n"


def _escape_invisible(data: bytes) -> bytes:
    """Escape DEL, C1 controls and invisible direction marks; JSON itself only requires C0 controls to be escaped."""
    # Most answers are ASCII, and this check spares them the search.
    if data.isascii() and b"\x7f" not in data:
        return data
    return _INVISIBLE_BYTES.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), data)


def _replace_invalid_unicode(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_replace_invalid_unicode(key): _replace_invalid_unicode(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_replace_invalid_unicode(item) for item in value]
    return value


def convert_exception(error: Exception) -> VisorError:
    """Return a VisorError for any exception; log an unexpected one with its traceback."""
    if isinstance(error, VisorError):
        return error
    get_logger("ops").error("unexpected %s", type(error).__name__, exc_info=error)
    # The text of an unknown exception may quote terminal output, so it is redacted before a client sees it.
    return InternalError(f"internal error: {type(error).__name__}: {redact(str(error))}")

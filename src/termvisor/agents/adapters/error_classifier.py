"""Classify error messages: usage limit and its reset time, missing login, rate limit, or other.

An agent with its own error codes maps them in its package (`error_codes`).
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from termvisor.agents.adapters.json_access import EMPTY_OBJECT, NS_PER_SECOND, JsonObject, get_int, parse_json_object
from termvisor.agents.adapters.statements import AgentStatement, build_payload
from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate
from termvisor.model.detection.reset_time import ResetTimeContext, parse_reset_time

USAGE_LIMIT, AUTH, RATE_LIMIT, OTHER = "usage_limit", "auth", "rate_limit", "other"
_KIND_EXPRESSIONS = {
    USAGE_LIMIT: r"usage.?limit|\bquota\b|out of credits|insufficient (?:credits|funds|balance)|limit resets",
    AUTH: r"api.?key|unauthori[sz]ed|unauthenticated|authenticat|not (?:logged|signed) in|\b40[13]\b|\bforbidden\b",
    RATE_LIMIT: r"rate.?limit|too many requests|\b429\b|overloaded",
}
_KIND_PATTERNS = {kind: re.compile(expression, re.IGNORECASE) for kind, expression in _KIND_EXPRESSIONS.items()}
_RESET_SPAN = re.compile(r"\b(?:resets?|again|retry|available)\b.{0,20}?(\bin \d.{0,40})", re.IGNORECASE | re.DOTALL)
_ZONE_EXPRESSION = r"\((?:[A-Z]{1,5}|[A-Za-z_]+(?:/[\w+-]+)+|(?:UTC|GMT)[+-][\d:]+)\)"
# A time of day with its zone, without which it would be ambiguous.
_ZONED_RESET_TIME = re.compile(
    rf"\bresets? (?:at )?(.{{1,40}}{_ZONE_EXPRESSION}|\d{{1,2}}:\d\d [AP]M (?:UTC|GMT)\b(?![+-]))"
)
_MAX_SCANNED_CHARS = 4000


def classify_error(message: str, status: int | None = None) -> str:
    """Return the kind of an error. The text takes precedence over the HTTP status: usage limits have 429, too."""
    text = message[:_MAX_SCANNED_CHARS]
    kind = next((kind for kind, pattern in _KIND_PATTERNS.items() if pattern.search(text)), OTHER)
    if kind == OTHER and status in (401, 403):
        return AUTH
    return RATE_LIMIT if kind == OTHER and status == 429 else kind


def find_reset_time(message: str, now: int) -> int | None:
    """Return when a limit ends, from the vendor's JSON or a duration. A time of day without a zone is ignored."""
    fields = _parse_embedded_json(message)
    if at := get_int(fields, "resets_at"):
        return at * NS_PER_SECOND
    if seconds := get_int(fields, "resets_in_seconds"):
        return now + seconds * NS_PER_SECOND
    span = _RESET_SPAN.search(message[:_MAX_SCANNED_CHARS])
    return parse_reset_time(span[1], ResetTimeContext(now, UTC, lambda _: None)) if span else None


def find_any_reset_time(message: str, now: int) -> int | None:
    """Return when a limit ends, from a time of day with its zone, the vendor's JSON or a duration."""
    return find_zoned_reset_time(message, now) or find_reset_time(message, now)


def find_zoned_reset_time(message: str, now: int) -> int | None:
    """Return when a limit ends, from a text such as ``resets 7:19am (UTC)``; None if it is ambiguous."""
    match = _ZONED_RESET_TIME.search(message)
    return parse_reset_time(match[1], ResetTimeContext(now, UTC, _load_zone)) if match else None


def find_local_reset_time(message: str, now: int) -> int | None:
    """Return when a limit ends, from a text such as ``try again at 11:02 PM`` in this machine's time zone."""
    _, separator, text = message.partition("try again ")
    zone = datetime.fromtimestamp(now // NS_PER_SECOND).astimezone().tzinfo if separator else None
    if zone is None:
        return None
    return parse_reset_time(text, ResetTimeContext(now=now, zone=zone, find_zone=lambda _: None))


def build_error_flags(
    kind: str, message: str, now: int, reset_time_finder: Callable[[str, int], int | None] = find_reset_time
) -> FlagUpdate:
    """Return the flags that an error of this kind sets."""
    if kind == USAGE_LIMIT:
        return FlagUpdate(usage_limited=True, resets_at=reset_time_finder(message, now))
    return FlagUpdate(auth_needed=True) if kind == AUTH else NO_FLAG_UPDATE


def build_error_statement(
    kind: str,
    message: str,
    now: int,
    reset_time_finder: Callable[[str, int], int | None] = find_reset_time,
) -> AgentStatement:
    """Return the statement that a turn failed with an error of this kind."""
    return AgentStatement(
        state="error",
        flags=build_error_flags(kind, message, now, reset_time_finder),
        payload=build_payload(error=kind, message=message),
    )


def extract_message(error_text: str) -> str:
    """Return the message in a JSON error; return any other text unchanged."""
    fields = _parse_embedded_json(error_text)
    inner = fields.get("error")
    for value in (fields, inner):
        if isinstance(value, dict) and isinstance(message := value.get("message"), str):
            return message
    return error_text


def _parse_embedded_json(message: str) -> JsonObject:
    """Parse the JSON object inside a text; empty if there is none."""
    start, end = message.find("{"), message[:_MAX_SCANNED_CHARS].rfind("}")
    return (parse_json_object(message[start : end + 1]) if 0 <= start < end else None) or EMPTY_OBJECT


def _load_zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # imported late: half a megabyte, rarely needed

    try:
        # The vendor's text may name a zone that this machine has no data for, or none at all.
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None

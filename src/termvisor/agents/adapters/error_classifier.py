"""What went wrong, from the words of an error: a usage limit and its end, a missing login, or something else.

An agent that has names of its own for errors keeps them in its package (`error_names`).
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from termvisor.agents.adapters.json_access import EMPTY, SECOND, Json, number, parsed
from termvisor.model.agent.signal import SILENT, FlagsTold
from termvisor.model.detection.reset_time import Here, reset_time

USAGE_LIMIT, AUTH, RATE_LIMIT, OTHER = "usage_limit", "auth", "rate_limit", "other"
_WORDS = {
    USAGE_LIMIT: r"usage.?limit|\bquota\b|out of credits|insufficient (?:credits|funds|balance)|limit resets",
    AUTH: r"api.?key|unauthori[sz]ed|unauthenticated|authenticat|not (?:logged|signed) in|\b40[13]\b|\bforbidden\b",
    RATE_LIMIT: r"rate.?limit|too many requests|\b429\b|overloaded",
}
_KINDS = {kind: re.compile(words, re.IGNORECASE) for kind, words in _WORDS.items()}
_SPAN = re.compile(r"\b(?:resets?|again|retry|available)\b.{0,20}?(\bin \d.{0,40})", re.IGNORECASE | re.DOTALL)
_ZONE = r"\((?:[A-Z]{1,5}|[A-Za-z_]+(?:/[\w+-]+)+|(?:UTC|GMT)[+-][\d:]+)\)"
_IN_ZONE = re.compile(rf"\bresets? (?:at )?(.{{1,40}}{_ZONE}|\d{{1,2}}:\d\d [AP]M (?:UTC|GMT)\b(?![+-]))")
"""The time of day with its zone; without a zone nobody says whose clock is meant."""
_LONGEST = 4000
"""Characters of an error that are looked at."""


def kind_of(words: str, status: int | None = None) -> str:
    """The first that fits: a limit is told with the status of too many requests, too."""
    found = next((kind for kind, pattern in _KINDS.items() if pattern.search(words[:_LONGEST])), OTHER)
    if found == OTHER and status in (401, 403):
        return AUTH
    return RATE_LIMIT if found == OTHER and status == 429 else found


def ends_at(words: str, now: int) -> int | None:
    """When a limit ends: by a number in the vendor's JSON, or as a span of time. A bare time of day says too little."""
    fields = _fields(words)
    if at := number(fields, "resets_at"):
        return at * SECOND
    if seconds := number(fields, "resets_in_seconds"):
        return now + seconds * SECOND
    span = _SPAN.search(words[:_LONGEST])
    return reset_time(span[1], Here(now, UTC, lambda _: None)) if span else None


def ends_told(words: str, now: int) -> int | None:
    """As a time of day with its zone, or in any other way."""
    return ends_in_zone(words, now) or ends_at(words, now)


def ends_in_zone(words: str, now: int) -> int | None:
    """The instant behind ``resets 7:19am (UTC)``; None where the words do not say it surely."""
    found = _IN_ZONE.search(words)
    return reset_time(found[1], Here(now, UTC, _zone)) if found else None


def ends_by_own_clock(words: str, now: int) -> int | None:
    """The instant behind ``try again at 11:02 PM``, for an agent that writes the time of its machine, which is ours."""
    _, found, when = words.partition("try again ")
    zone = datetime.fromtimestamp(now // SECOND).astimezone().tzinfo if found else None
    return reset_time(when, Here(now=now, zone=zone, zones=lambda _: None)) if zone is not None else None


def flags_of(kind: str, words: str, now: int, end: Callable[[str, int], int | None] = ends_at) -> FlagsTold:
    """What an error of this kind says beside the state; its words may tell when a limit ends."""
    if kind == USAGE_LIMIT:
        return FlagsTold(usage_limited=True, resets_at=end(words, now))
    return FlagsTold(auth_needed=True) if kind == AUTH else SILENT


def shown(words: str) -> str:
    """The message alone, where the words are the vendor's JSON."""
    fields = _fields(words)
    inner = fields.get("error")
    for value in (fields, inner):
        if isinstance(value, dict) and isinstance(message := value.get("message"), str):
            return message
    return words


def _fields(words: str) -> Json:
    """The JSON that stands in the words; nothing where there is none."""
    start, end = words.find("{"), words[:_LONGEST].rfind("}")
    return (parsed(words[start : end + 1]) if 0 <= start < end else None) or EMPTY


def _zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # half a megabyte for what is rarely told

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None

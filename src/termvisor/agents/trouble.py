"""What went wrong, from the words of an error: a usage limit and its end, a missing login, or something else."""

import re
from datetime import UTC

from termvisor.agents.foreign import EMPTY, SECOND, Json, number, parsed
from termvisor.model.reset_time import Here, reset_time
from termvisor.model.signal import SILENT, FlagsTold

USAGE_LIMIT, AUTH, RATE_LIMIT, OTHER = "usage_limit", "auth", "rate_limit", "other"
_WORDS = {
    USAGE_LIMIT: r"usage.?limit|\bquota\b|out of credits|insufficient (?:credits|funds|balance)|limit resets",
    AUTH: r"api.?key|unauthori[sz]ed|unauthenticated|authenticat|not (?:logged|signed) in|\b40[13]\b|\bforbidden\b",
    RATE_LIMIT: r"rate.?limit|too many requests|\b429\b|overloaded",
}
_KINDS = {kind: re.compile(words, re.IGNORECASE) for kind, words in _WORDS.items()}
_SPAN = re.compile(r"\b(?:resets?|again|retry|available)\b.{0,20}?(\bin \d.{0,40})", re.IGNORECASE | re.DOTALL)
_LONGEST = 4000
"""Characters of an error that are looked at."""


def kind_of(words: str, status: int | None = None) -> str:
    """The first that fits: a limit is told with the status of too many requests, too."""
    found = next((kind for kind, pattern in _KINDS.items() if pattern.search(words[:_LONGEST])), OTHER)
    if found == OTHER and status in (401, 403):
        return AUTH
    return RATE_LIMIT if found == OTHER and status == 429 else found


def flags_of(kind: str, words: str, now: int) -> FlagsTold:
    if kind == USAGE_LIMIT:
        return FlagsTold(usage_limited=True, resets_at=ends_at(words, now))
    return FlagsTold(auth_needed=True) if kind == AUTH else SILENT


def ends_at(words: str, now: int) -> int | None:
    """When a limit ends: by a number in the vendor's JSON, or as a span of time. A bare time of day says too little."""
    fields = _fields(words)
    if at := number(fields, "resets_at"):
        return at * SECOND
    if seconds := number(fields, "resets_in_seconds"):
        return now + seconds * SECOND
    span = _SPAN.search(words[:_LONGEST])
    return reset_time(span[1], Here(now, UTC, lambda _: None)) if span else None


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

"""What an error says beside the state: a usage limit and its end, or that somebody must log in."""

import re
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from termvisor.model.reset_time import Here, reset_time
from termvisor.model.signal import FlagsTold

LOGIN = frozenset(
    {
        "authentication_failed",
        "oauth_org_not_allowed",
        "account_on_hold",
        "verification_required",
        "cloud_credential_error",
    }
)
"""Errors that only a person with the account can mend."""
ADMITTED = frozenset({"rate_limit", "invalid_request", "model_not_found", "max_output_tokens"})
"""Errors of a request that was let in: whoever made it is logged in."""

LIMIT = re.compile(r"\b(?:hit|reached) your .{0,40}\blimit\b|\busage limit reached\b", re.IGNORECASE)
"""`You've hit your 5-hour limit`. A refused request alone (429) is none: it may be tried again at once."""
_RESETS = re.compile(r"\bresets? (?:at )?(.{1,40}\((?:[A-Z]{1,5}|[A-Za-z_]+(?:/[\w+-]+)+|(?:UTC|GMT)[+-][\d:]+)\))")
"""The time of day with its zone; without a zone nobody says whose clock is meant."""


def flags_of(error: str, words: str, now: int) -> FlagsTold:
    """``error`` is Claude Code's own name for it, empty where only the words are known."""
    if error in LOGIN:
        return FlagsTold(auth_needed=True)
    auth_needed = False if error in ADMITTED else None
    if error in ("rate_limit", "") and LIMIT.search(words):
        return FlagsTold(usage_limited=True, resets_at=ends_at(words, now), auth_needed=auth_needed)
    return FlagsTold(auth_needed=auth_needed)


def ends_at(words: str, now: int) -> int | None:
    """When the limit ends, in nanoseconds since 1970; None where the words do not say it surely."""
    found = _RESETS.search(words)
    return reset_time(found[1], Here(now, UTC, _zone)) if found else None


def _zone(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None

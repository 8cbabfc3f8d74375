"""Map Claude Code error codes to flags."""

import re

from msgspec.structs import replace

from termvisor.agents.adapters import error_classifier
from termvisor.model.agent.signal import FlagUpdate

_LOGIN_ERRORS = frozenset({"authentication_failed", "oauth_org_not_allowed", "account_on_hold"})
_LOGIN_ERRORS |= {"verification_required", "cloud_credential_error"}
"""Errors that the user resolves by logging in or contacting the vendor."""
# Errors of authenticated requests, which prove that the user is logged in.
_AUTHENTICATED_ERRORS = frozenset({"rate_limit", "invalid_request", "model_not_found", "max_output_tokens"})
# `You've hit your 5-hour limit`. Status 429 alone is not a usage limit: the request may be retried at once.
_LIMIT_MESSAGE = re.compile(
    r"\b(?:hit|reached) your (?!fast\b).{0,40}\b(?:limit|shared budget)\b|\busage limit reached\b"
    r"|\bout of (?:extra usage|usage)\b",
    re.IGNORECASE,
)


def build_error_flags(error: str, message: str, now: int) -> FlagUpdate:
    """Return the flags for an error. ``error`` is the error code; empty if only the message is known."""
    flags = error_classifier.build_error_flags(
        _classify_error(error, message), message, now, error_classifier.find_zoned_reset_time
    )
    return replace(flags, auth_needed=False) if error in _AUTHENTICATED_ERRORS else flags


def _classify_error(error: str, message: str) -> str:
    if error in _LOGIN_ERRORS:
        return error_classifier.AUTH
    return (
        error_classifier.USAGE_LIMIT
        if error in ("rate_limit", "") and _LIMIT_MESSAGE.search(message)
        else error_classifier.OTHER
    )

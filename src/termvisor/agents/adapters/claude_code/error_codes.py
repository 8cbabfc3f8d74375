"""Claude Code's own names of errors, and what each says beside the state."""

import re

from msgspec.structs import replace

from termvisor.agents.adapters import error_classifier as trouble
from termvisor.model.agent.signal import FlagsTold

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
_MAY_BE_A_LIMIT = ("rate_limit", "")
_LIMIT = re.compile(
    r"\b(?:hit|reached) your (?!fast\b).{0,40}\b(?:limit|shared budget)\b|\busage limit reached\b"
    r"|\bout of (?:extra usage|usage)\b",
    re.IGNORECASE,
)
"""`You've hit your 5-hour limit`. A refused request alone (429) is none: it may be tried again at once."""


def flags_of(error: str, words: str, now: int) -> FlagsTold:
    """``error`` is the name, empty where only the words are known."""
    flags = trouble.flags_of(_kind(error, words), words, now, trouble.ends_in_zone)
    return replace(flags, auth_needed=False) if error in ADMITTED else flags


def _kind(error: str, words: str) -> str:
    if error in LOGIN:
        return trouble.AUTH
    return trouble.USAGE_LIMIT if error in _MAY_BE_A_LIMIT and _LIMIT.search(words) else trouble.OTHER

"""Codex' own names of errors, in few words of ours: it has two spellings, and tells some only by HTTP status."""

from collections.abc import Mapping

from termvisor.agents.adapters import error_classifier as trouble
from termvisor.agents.adapters.error_classifier import AUTH, OTHER, RATE_LIMIT, USAGE_LIMIT
from termvisor.model.agent.signal import FlagsTold

_KINDS = {
    "usagelimitexceeded": USAGE_LIMIT,
    "sessionbudgetexceeded": "budget",
    "ratelimitexceeded": RATE_LIMIT,
    "serveroverloaded": "overloaded",
    "internalservererror": "server_error",
    "unauthorized": AUTH,
    "badrequest": "bad_request",
    "modelnotfound": "model_not_found",
    "contextwindowexceeded": "context_full",
    "sandboxerror": "sandbox",
    "toomanydenials": "too_many_denials",
    "responsestreamdisconnected": "disconnected",
    "responsestreamconnectionfailed": "disconnected",
    "httpconnectionfailed": "connection",
    "responsetoomanyfailedattempts": "too_many_attempts",
}
_STATUSES = {401: AUTH, 403: AUTH, 429: RATE_LIMIT, 500: "server_error", 503: "overloaded"}
_WORDS = (
    ("usage limit", USAGE_LIMIT),
    ("out of credits", USAGE_LIMIT),
    ("spend cap", USAGE_LIMIT),
    ("Quota exceeded", USAGE_LIMIT),
    ("status 401", AUTH),
    ("status 403", AUTH),
    ("429", RATE_LIMIT),
    ("at capacity", "overloaded"),
    ("high demand", "server_error"),
    ("stream disconnected", "disconnected"),
)


def kind_of(info: object) -> str:
    """The kind behind Codex' own name of an error: ``usageLimitExceeded``, ``{"httpConnectionFailed": {…}}``."""
    if isinstance(info, Mapping) and info:
        name, details = next(iter(info.items()))
        status = next(iter(details.values()), None) if isinstance(details, Mapping) else None
        return _STATUSES.get(status, "") if isinstance(status, int) and status in _STATUSES else kind_of(name)
    return _KINDS.get(info.replace("_", "").lower(), OTHER) if isinstance(info, str) else OTHER


def kind_in(words: str) -> str:
    """For places that tell an error by its words only."""
    return next((kind for part, kind in _WORDS if part in words), OTHER)


def flags_of(kind: str, words: str, now: int) -> FlagsTold:
    return trouble.flags_of(kind, words, now, trouble.ends_by_own_clock)

"""Codex' own names of errors, in few words of ours: it has two spellings, and tells some only by HTTP status."""

from collections.abc import Mapping

from termvisor.agents.adapters import error_classifier
from termvisor.agents.adapters.error_classifier import AUTH, OTHER, RATE_LIMIT, USAGE_LIMIT
from termvisor.model.agent.signal import FlagUpdate

_KINDS_BY_CODE = {
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
_KINDS_BY_HTTP_STATUS = {401: AUTH, 403: AUTH, 429: RATE_LIMIT, 500: "server_error", 503: "overloaded"}
_KINDS_BY_PHRASE = (
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


def classify_error_code(info: object) -> str:
    """The kind behind Codex' own name of an error: ``usageLimitExceeded``, ``{"httpConnectionFailed": {…}}``."""
    if isinstance(info, Mapping) and info:
        name, details = next(iter(info.items()))
        status = next(iter(details.values()), None) if isinstance(details, Mapping) else None
        return (
            _KINDS_BY_HTTP_STATUS.get(status, "")
            if isinstance(status, int) and status in _KINDS_BY_HTTP_STATUS
            else classify_error_code(name)
        )
    return _KINDS_BY_CODE.get(info.replace("_", "").lower(), OTHER) if isinstance(info, str) else OTHER


def classify_error_message(message: str) -> str:
    """For places that tell an error by its words only."""
    return next((kind for part, kind in _KINDS_BY_PHRASE if part in message), OTHER)


def build_error_flags(kind: str, message: str, now: int) -> FlagUpdate:
    return error_classifier.build_error_flags(kind, message, now, error_classifier.find_local_reset_time)

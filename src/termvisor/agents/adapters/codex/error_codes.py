"""Map error codes of Codex to error kinds. Codex has two spellings, and reports some errors only by HTTP status."""

from collections.abc import Mapping

from termvisor.agents.adapters import error_classifier
from termvisor.agents.adapters.error_classifier import AUTH, OTHER, RATE_LIMIT, USAGE_LIMIT
from termvisor.agents.adapters.statements import AgentStatement, build_payload

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
    """Return the kind of an error code, such as ``usageLimitExceeded`` or ``{"httpConnectionFailed": {…}}``."""
    if isinstance(info, Mapping) and info:
        name, details = next(iter(info.items()))
        status = next(iter(details.values()), None) if isinstance(details, Mapping) else None
        kind = _KINDS_BY_HTTP_STATUS.get(status) if isinstance(status, int) else None
        return kind or classify_error_code(name)
    return _KINDS_BY_CODE.get(info.replace("_", "").lower(), OTHER) if isinstance(info, str) else OTHER


def classify_error_message(message: str) -> str:
    """Return the kind of an error that has a message but no code."""
    return next((kind for part, kind in _KINDS_BY_PHRASE if part in message), OTHER)


def build_error_statement(kind: str, message: str, now: int) -> AgentStatement:
    """Return the statement that a turn has failed with an error of this kind."""
    return AgentStatement(
        state="error",
        flags=error_classifier.build_error_flags(kind, message, now, error_classifier.find_local_reset_time),
        payload=build_payload(error=kind, message=message),
    )

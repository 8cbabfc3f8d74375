"""Map Codex error codes to error kinds. Codex spells them in two ways and reports some errors only by HTTP status."""

from collections.abc import Mapping

from termvisor.agents.adapters.error_classifier import (
    AUTH,
    OTHER,
    RATE_LIMIT,
    USAGE_LIMIT,
    build_error_statement,
    find_local_reset_time,
)
from termvisor.agents.adapters.statements import AgentStatement

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


def build_code_error_statement(info: object, message: str, now: int) -> AgentStatement:
    """Return the statement for a failed turn whose error has a code."""
    return build_error_statement(classify_error_code(info), message, now, find_local_reset_time)


def build_message_error_statement(message: str, now: int) -> AgentStatement:
    """Return the statement for a failed turn whose error has only a message."""
    kind = next((kind for part, kind in _KINDS_BY_PHRASE if part in message), OTHER)
    return build_error_statement(kind, message, now, find_local_reset_time)

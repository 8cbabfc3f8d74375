"""What went wrong, in few words of our own: Codex names its errors in two spellings, and some only by HTTP status."""

from collections.abc import Mapping
from datetime import datetime

from termvisor.clock import NS
from termvisor.model.reset_time import Here, reset_time
from termvisor.model.signal import SILENT, FlagsTold

USAGE_LIMIT, AUTH = "usage_limit", "auth"
_KINDS = {
    "usagelimitexceeded": USAGE_LIMIT,
    "sessionbudgetexceeded": "budget",
    "ratelimitexceeded": "rate_limit",
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
_STATUSES = {401: AUTH, 403: AUTH, 429: "rate_limit", 500: "server_error", 503: "overloaded"}
_WORDS = (
    ("usage limit", USAGE_LIMIT),
    ("status 401", AUTH),
    ("status 403", AUTH),
    ("429", "rate_limit"),
    ("at capacity", "overloaded"),
    ("high demand", "server_error"),
    ("stream disconnected", "disconnected"),
)
_FULL = 100


def kind_of(info: object) -> str:
    """The kind behind Codex' own name of an error: ``usageLimitExceeded``, ``{"httpConnectionFailed": {…}}``."""
    if isinstance(info, Mapping) and info:
        name, details = next(iter(info.items()))
        status = next(iter(details.values()), None) if isinstance(details, Mapping) else None
        return _STATUSES.get(status, "") if isinstance(status, int) and status in _STATUSES else kind_of(name)
    return _KINDS.get(info.replace("_", "").lower(), "other") if isinstance(info, str) else "other"


def kind_in(words: str) -> str:
    """For places that tell an error by its words only."""
    return next((kind for part, kind in _WORDS if part in words), "other")


def flags_of(kind: str, words: str, now: int) -> FlagsTold:
    """What an error of this kind says beside the state; its words may tell when a limit ends."""
    if kind == USAGE_LIMIT:
        return FlagsTold(usage_limited=True, resets_at=ends_at(words, now))
    return FlagsTold(auth_needed=True) if kind == AUTH else SILENT


def ends_at(words: str, now: int) -> int | None:
    """The instant behind ``try again at 11:02 PM``: Codex writes the time of its own machine, which is ours."""
    _, found, when = words.partition("try again ")
    if not found:
        return None
    zone = datetime.fromtimestamp(now // NS).astimezone().tzinfo
    return reset_time(when, Here(now=now, zone=zone, zones=lambda _: None)) if zone is not None else None


def window_flags(limits: object) -> FlagsTold:
    """From a report on the account's windows: one that is used up ends at a known second."""
    if not isinstance(limits, Mapping):
        return SILENT
    windows = [one for name in ("primary", "secondary") if isinstance(one := limits.get(name), Mapping)]
    spent = [_end(one) for one in windows if _number(one, "usedPercent", "used_percent") >= _FULL]
    if not spent:
        return FlagsTold(usage_limited=False) if windows else SILENT
    return FlagsTold(usage_limited=True, resets_at=max(spent) or None)


def _end(window: Mapping[str, object]) -> int:
    return int(_number(window, "resetsAt", "resets_at")) * NS


def _number(window: Mapping[str, object], *names: str) -> float:
    found = next((window[name] for name in names if name in window), 0)
    return float(found) if isinstance(found, int | float) else 0.0

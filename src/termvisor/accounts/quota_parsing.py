"""What is heard of limits becomes allowances: agents' own figures, texts that rules found, a tracker's answer. Pure.

What cannot be read is left out: a figure that nobody told is no figure.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec
from msgspec import Struct, field

from termvisor.clock import NS
from termvisor.model.agent.account import UNKNOWN_SPAN, Account, Allowance
from termvisor.model.agent.signal import Signal
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Scalar

_HOURS_PATTERN = re.compile(r"(\d{1,4})[\s-]*h(?:our)?s?", re.IGNORECASE)
_WEEK_HOURS = 168


def parse_signal_allowances(signal: Signal) -> list[Allowance]:
    """The windows that an agent tells with its own figures."""
    told, at = signal.payload, signal.event_at or signal.ingested_at
    return [one for name in ("primary", "secondary") if (one := _parse_window(told, name, at)) is not None]


def parse_detection_allowance(detection: Detection) -> Allowance | None:
    """A warning, or a limit that is reached."""
    if detection.type not in ("usage.warning", "usage.reached"):
        return None
    ends = detection.evidence.get("resets_at")
    left = 0.0 if detection.type == "usage.reached" else _parse_percent_left(detection.captures)
    if left is None:
        return None
    return Allowance(
        span=find_span(detection.captures),
        percent_remaining=left,
        resets_at=ends if isinstance(ends, int) else None,
        checked_at=detection.at,
        source="rule",
    )


def find_span(captures: Mapping[str, str]) -> str:
    words = captures.get("limit", "").lower()
    hours = captures.get("limit_hours") or next(iter(_HOURS_PATTERN.findall(words)), "")
    if hours:
        return format_span(int(hours))
    return words if "week" in words else UNKNOWN_SPAN


def format_span(hours: int) -> str:
    return "weekly" if hours == _WEEK_HOURS else f"{hours}h"


def _parse_percent_left(captures: Mapping[str, str]) -> float | None:
    """Percent; ``<1`` is less than one."""
    if "used" in captures:
        return max(0.0, 100.0 - float(captures["used"])) if captures["used"].isdigit() else None
    text = captures.get("remaining", "")
    return 0.5 if text.startswith("<") else float(text) if text.isdigit() else None


def _parse_window(payload: Mapping[str, Scalar], name: str, at: int) -> Allowance | None:
    used, minutes, ends = (payload.get(f"window_{name}_{what}") for what in ("used", "minutes", "resets"))
    if not isinstance(used, int | float) or isinstance(used, bool):
        return None
    return Allowance(
        span=format_span(round(minutes / 60)) if isinstance(minutes, int | float) and minutes >= 60 else name,
        percent_remaining=min(100.0, max(0.0, 100.0 - used)),
        resets_at=int(ends) * NS if isinstance(ends, int | float) and ends > 0 else None,
        checked_at=at,
        source="signal",
    )


class TrackedAccount(Struct, frozen=True, kw_only=True):
    """One account in a tracker's answer, in either of the two spellings that are in use."""

    name: str = ""
    id: str = ""
    email: str = ""
    percent_remaining: float | None = None
    camel_percent_remaining: float | None = field(name="percentRemaining", default=None)
    limit_hours: float | None = None
    camel_limit_hours: float | None = field(name="limitHours", default=None)
    reset_at: str | None = None
    camel_reset_at: str | None = field(name="resetAt", default=None)
    resets_at: str | None = None
    usage_type: str = "rate"
    limit: float | None = None
    current: float | None = None
    tokens_limit: float | None = None
    tokens_used: float | None = None


class _TrackerAnswer(Struct, frozen=True, kw_only=True):
    accounts: list[TrackedAccount] = []


def parse_tracker_answer(data: bytes, accounts: list[Account], source: str, at: int) -> list[tuple[Account, Allowance]]:
    """What a tracker says of accounts that are declared. Raises ``ValueError`` for what is no answer."""
    try:
        answer = msgspec.json.decode(data, type=_TrackerAnswer)
    except msgspec.DecodeError as error:
        raise ValueError(f"{source} gave no answer that can be read: {error}") from error
    return list(_match_accounts(answer.accounts, accounts, source, at))


def _match_accounts(
    tracked: list[TrackedAccount], accounts: list[Account], source: str, at: int
) -> Iterator[tuple[Account, Allowance]]:
    for one in tracked:
        names = {one.name, one.id, one.email} - {""}
        account = next((each for each in accounts if names & {each.name, each.email, each.ref}), None)
        if account is not None and (found := _build_allowance(one, source, at)) is not None:
            yield account, found


def _build_allowance(tracked: TrackedAccount, source: str, at: int) -> Allowance | None:
    most = _get_first(tracked.limit, tracked.tokens_limit)
    current = _get_first(tracked.current, tracked.tokens_used)
    left = _get_first(tracked.percent_remaining, tracked.camel_percent_remaining)
    if left is None and most and current is not None:
        left = 100.0 * (1 - current / most)
    if left is None:
        return None
    hours, is_credit = _get_first(tracked.limit_hours, tracked.camel_limit_hours), tracked.usage_type == "credits"
    return Allowance(
        span="credits" if is_credit else format_span(round(hours)) if hours else "tracked",
        usage_type="credits" if is_credit else "rate",
        limit=most,
        current=current,
        percent_remaining=min(100.0, max(0.0, left)),
        resets_at=_parse_instant(tracked.reset_at or tracked.camel_reset_at or tracked.resets_at),
        checked_at=at,
        source=source,
    )


def _get_first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _parse_instant(text: str | None) -> int | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return None if found is None or found.tzinfo is None else int(found.timestamp()) * NS

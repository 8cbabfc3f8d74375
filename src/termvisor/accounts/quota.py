"""Read remaining quota from agent signals, rule detections and, if installed, the usage tracker `caut`.

Values that cannot be parsed are omitted. Nothing is estimated.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct, field

from termvisor.clock import NS
from termvisor.errors import Refused
from termvisor.model.action.action import RunProgram
from termvisor.model.action.outcome import ProgramRunner, explain_missing_output
from termvisor.model.agent.account import UNKNOWN_SPAN, Account, Allowance, Service
from termvisor.model.agent.signal import Signal
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Scalar
from termvisor.system.subprocesses import is_installed

_HOURS_PATTERN = re.compile(r"(\d{1,4})[\s-]*h(?:our)?s?", re.IGNORECASE)
_WEEK_HOURS = 168


def parse_signal_allowances(signal: Signal) -> list[Allowance]:
    """Return the limit windows in an agent signal's payload."""
    at = signal.event_at or signal.ingested_at
    windows = (_parse_window(signal.payload, name, at) for name in ("primary", "secondary"))
    return [window for window in windows if window is not None]


def parse_detection_allowance(detection: Detection) -> Allowance | None:
    """Return the quota stated in a usage warning or a reached limit; None for any other detection."""
    if detection.type not in ("usage.warning", "usage.reached"):
        return None
    resets_at = detection.evidence.get("resets_at")
    left = 0.0 if detection.type == "usage.reached" else _parse_percent_left(detection.captures)
    if left is None:
        return None
    return Allowance(
        span=find_span(detection.captures),
        percent_remaining=left,
        resets_at=resets_at if isinstance(resets_at, int) else None,
        checked_at=detection.at,
        source="rule",
    )


def find_span(captures: Mapping[str, str]) -> str:
    """Return the length of the limit window from a rule's captures."""
    limit = captures.get("limit", "").lower()
    hours = captures.get("limit_hours") or next(iter(_HOURS_PATTERN.findall(limit)), "")
    if hours:
        return format_span(int(hours))
    return limit if "week" in limit else UNKNOWN_SPAN


def format_span(hours: int) -> str:
    """Return the name of a limit window, such as ``5h`` or ``weekly``."""
    return "weekly" if hours == _WEEK_HOURS else f"{hours}h"


def _parse_percent_left(captures: Mapping[str, str]) -> float | None:
    """Return the remaining percentage; ``<1`` counts as 0.5."""
    if "used" in captures:
        return max(0.0, 100.0 - float(captures["used"])) if captures["used"].isdigit() else None
    text = captures.get("remaining", "")
    return 0.5 if text.startswith("<") else float(text) if text.isdigit() else None


def _parse_window(payload: Mapping[str, Scalar], name: str, at: int) -> Allowance | None:
    used, minutes, resets_at = (payload.get(f"window_{name}_{field}") for field in ("used", "minutes", "resets"))
    # A bool is an int in Python, but not a percentage.
    if not isinstance(used, int | float) or isinstance(used, bool):
        return None
    return Allowance(
        span=format_span(round(minutes / 60)) if isinstance(minutes, int | float) and minutes >= 60 else name,
        percent_remaining=min(100.0, max(0.0, 100.0 - used)),
        resets_at=int(resets_at) * NS if isinstance(resets_at, int | float) and resets_at > 0 else None,
        checked_at=at,
        source="signal",
    )


class TrackedAccount(Struct, frozen=True, kw_only=True):
    """An account in the tracker's output, whose keys are in snake case or camel case."""

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
    """Return the configured accounts' quota from the tracker's output. Raises ``ValueError`` if it is malformed."""
    try:
        answer = msgspec.json.decode(data, type=_TrackerAnswer)
    except msgspec.DecodeError as error:
        # The output of another program may change with its version.
        raise ValueError(f"{source} returned malformed output: {error}") from error
    return list(_match_accounts(answer.accounts, accounts, source, at))


def _match_accounts(
    tracked: list[TrackedAccount], accounts: list[Account], source: str, at: int
) -> Iterator[tuple[Account, Allowance]]:
    for entry in tracked:
        names = {entry.name, entry.id, entry.email} - {""}
        account = next((account for account in accounts if names & {account.name, account.email, account.ref}), None)
        if account is not None and (allowance := _build_allowance(entry, source, at)) is not None:
            yield account, allowance


def _build_allowance(tracked: TrackedAccount, source: str, at: int) -> Allowance | None:
    limit = _get_first(tracked.limit, tracked.tokens_limit)
    current = _get_first(tracked.current, tracked.tokens_used)
    left = _get_first(tracked.percent_remaining, tracked.camel_percent_remaining)
    if left is None and limit and current is not None:
        left = 100.0 * (1 - current / limit)
    if left is None:
        return None
    hours, is_credit = _get_first(tracked.limit_hours, tracked.camel_limit_hours), tracked.usage_type == "credits"
    return Allowance(
        span="credits" if is_credit else format_span(round(hours)) if hours else "tracked",
        usage_type="credits" if is_credit else "rate",
        limit=limit,
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
        time = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return None if time is None or time.tzinfo is None else int(time.timestamp()) * NS


async def query_tracker(
    program: str, command: Literal["usage", "refresh"], service: Service, run_program: ProgramRunner
) -> bytes | None:
    """Return the tracker's output; None if it is not installed.

    Raises ``ValueError`` if it fails. The message omits its error output, which may contain secrets.
    """
    if not program or not is_installed(program):
        return None
    try:
        outcome = await run_program(RunProgram(argv=(program, command, "--service", service, "--format", "json")))
    except Refused as error:
        raise ValueError(f"{program} was not run: {error.message}") from error
    output = outcome.answered
    if output is None:
        raise ValueError(explain_missing_output(outcome, program))
    if output.exit_status:
        raise ValueError(f"{program} {command} failed with status {output.exit_status}")
    return output.out

"""Resolve the flags beside the state: usage limit, compaction, missing login.

The newest report of a flag counts. A screen reports what it shows now: a flag that it no longer shows is dropped, not
cleared, and a text that is still on the screen is as old as its first capture.
"""

from collections.abc import Iterable

from msgspec import Struct

from termvisor.model.agent.signal import NO_FLAG_UPDATE, FlagUpdate, Signal
from termvisor.model.agent.state import AgentFlags, StateName
from termvisor.model.detection.reset_time import round_up_to_minute

FLAG_NAMES = ("usage_limited", "compacting", "auth_needed")


class FlagReport(Struct, frozen=True):
    """One report of a flag; ``since`` is when it was reported or first shown."""

    since: int
    is_set: bool
    resets_at: int | None = None


FlagReports = dict[str, FlagReport]


def apply_flag_signal(reports: FlagReports, signal: Signal) -> FlagReports:
    """Return the flag reports of a source after this signal."""
    if signal.tier == "heuristic":
        return _keep_shown_flags(reports, signal) if signal.kind in ("state", "no_agent") else reports
    if signal.state == "completed":
        reports = dict.fromkeys(FLAG_NAMES, FlagReport(signal.ingested_at, False))
    return reports if signal.flags == NO_FLAG_UPDATE else {**reports, **_build_reports(signal)}


def _keep_shown_flags(reports: FlagReports, signal: Signal) -> FlagReports:
    """Keep only the flags on the screen now; those shown before keep their age."""
    return {name: reports.get(name, new) for name, new in _build_reports(signal).items() if new.is_set}


def _build_reports(signal: Signal) -> FlagReports:
    values = {name: _get_flag(signal.flags, name) for name in FLAG_NAMES}
    return {
        name: FlagReport(signal.ingested_at, is_set, signal.flags.resets_at if name == "usage_limited" else None)
        for name, is_set in values.items()
        if is_set is not None
    }


def _get_flag(flags: FlagUpdate, name: str) -> bool | None:
    is_set: bool | None = getattr(flags, name)
    return is_set


def resolve_flags(value: StateName, sources: Iterable[FlagReports], now: int) -> AgentFlags:
    """Return the flags beside this state. A compaction lasts only while the agent is running.

    A usage limit ends at its reset time, rounded up to the minute, whatever was reported last.
    """
    newest: FlagReports = {}
    for reports in sources:
        for name, flag in reports.items():
            if name not in newest or flag.since > newest[name].since:
                newest[name] = flag
    limit = newest.get("usage_limited", _NO_REPORT)
    is_limited = limit.is_set and (limit.resets_at is None or now < round_up_to_minute(limit.resets_at))
    return AgentFlags(
        usage_limited=is_limited,
        resets_at=limit.resets_at if is_limited else None,
        compacting=value == "running" and newest.get("compacting", _NO_REPORT).is_set,
        auth_needed=newest.get("auth_needed", _NO_REPORT).is_set,
    )


def keep_lasting_flags(reports: FlagReports) -> FlagReports:
    """Return the flags that stay valid without fresh signals: a usage limit with a known end."""
    return {name: flag for name, flag in reports.items() if flag.resets_at is not None}


_NO_REPORT = FlagReport(0, False)


def list_flag_deadlines(reports: FlagReports) -> list[int]:
    return [round_up_to_minute(flag.resets_at) for flag in reports.values() if flag.resets_at is not None]

"""Track what a source reports besides the state: flags (usage limit, compaction, missing login) and running sub-tasks.

The newest report of a flag counts. A screen reports what it shows now: a flag that it no longer shows is dropped, not
cleared, and a text that is still on the screen is as old as its first capture.

Signals of sub-agents and background tasks arrive in any order. Each task has its own cursor, so that its end counts
even if another signal arrived first. A list of all running tasks replaces all earlier reports.
"""

from collections.abc import Iterable

from msgspec import Struct, field

from termvisor.agents.state.signal_admission import START_POSITION, SignalPosition
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import NO_FLAG_UPDATE, Signal
from termvisor.model.agent.state import AgentFlags, StateName
from termvisor.model.detection.reset_time import round_up_to_minute

FLAG_NAMES = ("usage_limited", "compacting", "auth_needed")


class FlagReport(Struct, frozen=True):
    """One report of a flag; ``since`` is when it was received or first shown."""

    since: int
    is_set: bool
    resets_at: int | None = None
    event_at: int = 0
    """When the agent reported it; 0 if it names no time. Its log may arrive after a hook that fired later."""

    @property
    def reported_at(self) -> int:
        return self.event_at or self.since


FlagReports = dict[str, FlagReport]
_NO_REPORT = FlagReport(0, False)


def apply_flag_signal(reports: FlagReports, signal: Signal) -> FlagReports:
    """Return the flag reports of a source after this signal."""
    if signal.tier == "heuristic":
        if signal.kind not in ("state", "no_agent"):
            return reports
        # A flag that was shown before keeps its age: old text on the screen must not undo a turn that ended well.
        return {name: reports.get(name, new) for name, new in _build_reports(signal).items() if new.is_set}
    if signal.state == "completed":
        reports = dict.fromkeys(FLAG_NAMES, FlagReport(signal.ingested_at, False, None, _get_event_time(signal)))
    return reports if signal.flags == NO_FLAG_UPDATE else {**reports, **_build_reports(signal)}


def _build_reports(signal: Signal) -> FlagReports:
    values: dict[str, bool | None] = {name: getattr(signal.flags, name) for name in FLAG_NAMES}
    return {
        name: FlagReport(
            signal.ingested_at,
            is_set,
            signal.flags.resets_at if name == "usage_limited" else None,
            _get_event_time(signal),
        )
        for name, is_set in values.items()
        if is_set is not None
    }


def _get_event_time(signal: Signal) -> int:
    return signal.event_at if signal.tier == "deterministic" and signal.event_at < signal.ingested_at else 0


def resolve_flags(value: StateName, sources: Iterable[FlagReports], now: int) -> AgentFlags:
    """Return the flags that accompany this state. A compaction lasts only while the agent is running.

    A usage limit ends at its reset time, rounded up to the minute, whatever was reported last.
    """
    newest: FlagReports = {}
    for reports in sources:
        for name, flag in reports.items():
            if name not in newest or flag.reported_at > newest[name].reported_at:
                newest[name] = flag
    limit = newest.get("usage_limited", _NO_REPORT)
    # Agents show the end of a limit only to the minute, and the text stays on the screen after the reset.
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


def list_flag_deadlines(reports: FlagReports) -> list[int]:
    return [round_up_to_minute(flag.resets_at) for flag in reports.values() if flag.resets_at is not None]


class SubtaskReport(Struct, frozen=True):
    place: SignalPosition
    at: int
    is_open: bool


class Subtasks(Struct, frozen=True, kw_only=True):
    reports: dict[str, SubtaskReport] = field(default_factory=dict, name="told")
    """The last report of each task since the last list."""
    listed_at: SignalPosition = START_POSITION
    has_spoken: bool = False


def is_late_report(subtasks: Subtasks, task: str, position: SignalPosition) -> bool:
    last = subtasks.reports.get(task)
    return position <= subtasks.listed_at or (last is not None and position <= last.place)


def apply_subtask_signal(
    subtasks: Subtasks, signal: Signal, position: SignalPosition, thresholds: Thresholds
) -> Subtasks:
    """Apply the start or end of one task, reported by a signal that is not late."""
    oldest = signal.ingested_at - thresholds.remembered_for
    reports = {name: report for name, report in subtasks.reports.items() if report.is_open or report.at >= oldest}
    reports[signal.task] = SubtaskReport(position, signal.ingested_at, signal.kind == "task_began")
    return Subtasks(reports=reports, listed_at=subtasks.listed_at, has_spoken=True)


def apply_subtask_list(subtasks: Subtasks, signal: Signal, position: SignalPosition) -> Subtasks:
    """Apply a list of all running tasks; newer reports of single tasks remain."""
    if signal.tasks is None or position <= subtasks.listed_at:
        return subtasks
    listed = {name: SubtaskReport(position, signal.ingested_at, True) for name in signal.tasks}
    newer = {name: report for name, report in subtasks.reports.items() if report.place > position}
    return Subtasks(reports=listed | newer, listed_at=position, has_spoken=True)


def count_running(subtasks: Subtasks, now: int, thresholds: Thresholds) -> int:
    """Return the number of running tasks, excluding those last reported too long ago."""
    return sum(one.is_open and now - one.at <= thresholds.task_trusted_for for one in subtasks.reports.values())

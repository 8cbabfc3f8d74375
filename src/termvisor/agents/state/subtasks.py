"""Track the running sub-agents and background tasks of an agent, in whatever order their signals arrive.

Each task has its own cursor, so that its end counts although another signal arrived first. A list of all running tasks
replaces all earlier reports.
"""

from msgspec import Struct, field

from termvisor.agents.state.signal_order import START_POSITION, SignalPosition
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import Signal


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
    """Apply the start or end of one task; the signal is not late."""
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
    """Return how many tasks run, without those that were last reported too long ago."""
    return sum(one.is_open and now - one.at <= thresholds.task_trusted_for for one in subtasks.reports.values())

"""Sub-agents and background work of an agent: which of them run, however the news of them were shuffled.

Each task has a cursor of its own, so that the end of one counts also when something else was heard first. A list of
all running tasks settles everything that was said before it.
"""

from msgspec import Struct

from termvisor.agents.state.signal_order import START_POSITION, SignalPosition
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import Signal


class SubtaskReport(Struct, frozen=True):
    place: SignalPosition
    at: int
    is_open: bool


class Subtasks(Struct, frozen=True, kw_only=True):
    told: dict[str, SubtaskReport] = {}
    """What was last said of each, since the last list."""
    listed_at: SignalPosition = START_POSITION
    has_spoken: bool = False


def is_late_report(subtasks: Subtasks, task: str, position: SignalPosition) -> bool:
    known = subtasks.told.get(task)
    return position <= subtasks.listed_at or (known is not None and position <= known.place)


def apply_subtask_signal(
    subtasks: Subtasks, signal: Signal, position: SignalPosition, thresholds: Thresholds
) -> Subtasks:
    """After the news of one task, which is not late."""
    oldest = signal.ingested_at - thresholds.remembered_for
    kept = {name: told for name, told in subtasks.told.items() if told.is_open or told.at >= oldest}
    kept[signal.task] = SubtaskReport(position, signal.ingested_at, signal.kind == "task_began")
    return Subtasks(told=kept, listed_at=subtasks.listed_at, has_spoken=True)


def apply_subtask_list(subtasks: Subtasks, signal: Signal, position: SignalPosition) -> Subtasks:
    """After a list of all that run; newer news of single tasks stand."""
    if signal.tasks is None or position <= subtasks.listed_at:
        return subtasks
    listed = {name: SubtaskReport(position, signal.ingested_at, True) for name in signal.tasks}
    newer = {name: told for name, told in subtasks.told.items() if told.place > position}
    return Subtasks(told=listed | newer, listed_at=position, has_spoken=True)


def count_running(subtasks: Subtasks, now: int, thresholds: Thresholds) -> int:
    """How many run, as far as anybody still vouches for them."""
    return sum(told.is_open and now - told.at <= thresholds.task_trusted_for for told in subtasks.told.values())

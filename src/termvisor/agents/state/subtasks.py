"""Sub-agents and background work of an agent: which of them run, however the news of them were shuffled.

Each task has a cursor of its own, so that the end of one counts also when something else was heard first. A list of
all running tasks settles everything that was said before it.
"""

from msgspec import Struct

from termvisor.agents.state.signal_order import START, Position
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.signal import Signal


class TaskTold(Struct, frozen=True):
    place: Position
    at: int
    is_open: bool


class Tasks(Struct, frozen=True, kw_only=True):
    told: dict[str, TaskTold] = {}
    """What was last said of each, since the last list."""
    listed_at: Position = START
    has_spoken: bool = False


def is_late(tasks: Tasks, task: str, place: Position) -> bool:
    known = tasks.told.get(task)
    return place <= tasks.listed_at or (known is not None and place <= known.place)


def one(tasks: Tasks, signal: Signal, place: Position, measure: Measure) -> Tasks:
    """After the news of one task, which is not late."""
    oldest = signal.ingested_at - measure.remembered_for
    kept = {name: told for name, told in tasks.told.items() if told.is_open or told.at >= oldest}
    kept[signal.task] = TaskTold(place, signal.ingested_at, signal.kind == "task_began")
    return Tasks(told=kept, listed_at=tasks.listed_at, has_spoken=True)


def everything(tasks: Tasks, signal: Signal, place: Position) -> Tasks:
    """After a list of all that run; newer news of single tasks stand."""
    if signal.tasks is None or place <= tasks.listed_at:
        return tasks
    listed = {name: TaskTold(place, signal.ingested_at, True) for name in signal.tasks}
    newer = {name: told for name, told in tasks.told.items() if told.place > place}
    return Tasks(told=listed | newer, listed_at=place, has_spoken=True)


def running(tasks: Tasks, now: int, measure: Measure) -> int:
    """How many run, as far as anybody still vouches for them."""
    return sum(told.is_open and now - told.at <= measure.task_trusted_for for told in tasks.told.values())

"""Sub-tasks: however the news of them are shuffled, the same ones run in the end."""

from itertools import permutations

import pytest

from termvisor.agents.state.signal_order import position
from termvisor.agents.state.subtasks import Tasks, everything, is_late, one, running
from tests.declared import DEFAULT
from tests.unit.agents.state.scene import at, says


def start(seconds: float, task: str):
    return says(seconds, "hook", kind="task_began", task=task)


def end(seconds: float, task: str):
    return says(seconds, "hook", kind="task_ended", task=task)


def lists(seconds: float, *tasks: str):
    return says(seconds, "hook", kind="note", tasks=tasks)


def after(*signals) -> Tasks:
    tasks = Tasks()
    for signal in signals:
        place = position(signal)
        if signal.tasks is not None:
            tasks = everything(tasks, signal, place)
        elif not is_late(tasks, signal.task, place):
            tasks = one(tasks, signal, place, DEFAULT)
    return tasks


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        ([], 0),
        ([start(1, "a"), start(2, "b")], 2),
        ([start(1, "a"), end(2, "a")], 0),
        ([start(1, "a"), end(2, "a"), start(3, "a")], 1),
        ([start(1, "a"), lists(2)], 0),
        ([start(1, "a"), lists(2, "b", "c"), end(3, "b")], 1),
        ([lists(2, "a"), start(3, "b"), lists(4, "b")], 1),
        ([start(1, "a"), start(2, "b"), lists(3, "a"), start(4, "c")], 2),
    ],
)
def test_the_order_in_which_news_arrive_does_not_matter(signals: list, expected: int) -> None:
    assert {running(after(*shuffled), at(9), DEFAULT) for shuffled in permutations(signals)} == {expected}


def test_a_task_that_nobody_spoke_of_for_an_hour_is_not_counted() -> None:
    tasks = after(start(1, "a"))
    assert [running(tasks, at(seconds), DEFAULT) for seconds in (3601, 3601.1)] == [1, 0]


def test_ended_tasks_are_forgotten_after_a_while() -> None:
    assert list(after(start(1, "a"), end(2, "a"), start(900, "b")).told) == ["b"]

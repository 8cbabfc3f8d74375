"""Sub-tasks: the result does not depend on the order of signals."""

from itertools import permutations

import pytest

from termvisor.agents.state.flags_and_subtasks import (
    Subtasks,
    apply_subtask_list,
    apply_subtask_signal,
    count_running,
    is_late_report,
)
from termvisor.agents.state.signal_admission import compute_position
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.state.signal_scene import build_signal, to_ns


def start(seconds: float, task: str):
    return build_signal(seconds, "hook", kind="task_began", task=task)


def end(seconds: float, task: str):
    return build_signal(seconds, "hook", kind="task_ended", task=task)


def lists(seconds: float, *tasks: str):
    return build_signal(seconds, "hook", kind="note", tasks=tasks)


def after(*signals) -> Subtasks:
    tasks = Subtasks()
    for signal in signals:
        place = compute_position(signal)
        if signal.tasks is not None:
            tasks = apply_subtask_list(tasks, signal, place)
        elif not is_late_report(tasks, signal.task, place):
            tasks = apply_subtask_signal(tasks, signal, place, DEFAULT_THRESHOLDS)
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
def test_the_order_of_signals_does_not_matter(signals: list, expected: int) -> None:
    assert {count_running(after(*shuffled), to_ns(9), DEFAULT_THRESHOLDS) for shuffled in permutations(signals)} == {
        expected
    }


def test_a_task_without_a_report_for_an_hour_is_not_counted() -> None:
    tasks = after(start(1, "a"))
    assert [count_running(tasks, to_ns(seconds), DEFAULT_THRESHOLDS) for seconds in (3601, 3601.1)] == [1, 0]


def test_ended_tasks_are_forgotten_after_a_while() -> None:
    assert list(after(start(1, "a"), end(2, "a"), start(900, "b")).reports) == ["b"]

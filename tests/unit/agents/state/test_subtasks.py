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


def build_start(seconds: float, task: str):
    return build_signal(seconds, "hook", kind="task_began", task=task)


def build_end(seconds: float, task: str):
    return build_signal(seconds, "hook", kind="task_ended", task=task)


def build_list(seconds: float, *tasks: str):
    return build_signal(seconds, "hook", kind="note", tasks=tasks)


def apply_signals(*signals) -> Subtasks:
    tasks = Subtasks()
    for signal in signals:
        position = compute_position(signal)
        if signal.tasks is not None:
            tasks = apply_subtask_list(tasks, signal, position)
        elif not is_late_report(tasks, signal.task, position):
            tasks = apply_subtask_signal(tasks, signal, position, DEFAULT_THRESHOLDS)
    return tasks


@pytest.mark.parametrize(
    ("signals", "expected"),
    [
        ([], 0),
        ([build_start(1, "a"), build_start(2, "b")], 2),
        ([build_start(1, "a"), build_end(2, "a")], 0),
        ([build_start(1, "a"), build_end(2, "a"), build_start(3, "a")], 1),
        ([build_start(1, "a"), build_list(2)], 0),
        ([build_start(1, "a"), build_list(2, "b", "c"), build_end(3, "b")], 1),
        ([build_list(2, "a"), build_start(3, "b"), build_list(4, "b")], 1),
        ([build_start(1, "a"), build_start(2, "b"), build_list(3, "a"), build_start(4, "c")], 2),
    ],
)
def test_the_order_of_signals_does_not_matter(signals: list, expected: int) -> None:
    assert {
        count_running(apply_signals(*shuffled), to_ns(9), DEFAULT_THRESHOLDS) for shuffled in permutations(signals)
    } == {expected}


def test_a_task_without_a_report_for_an_hour_is_not_counted() -> None:
    tasks = apply_signals(build_start(1, "a"))
    assert [count_running(tasks, to_ns(seconds), DEFAULT_THRESHOLDS) for seconds in (3601, 3601.1)] == [1, 0]


def test_ended_tasks_are_forgotten_after_a_while() -> None:
    assert list(apply_signals(build_start(1, "a"), build_end(2, "a"), build_start(900, "b")).reports) == ["b"]


def test_a_report_at_the_place_of_the_last_one_is_late() -> None:
    tasks = apply_signals(build_start(1, "a"))
    at = compute_position(build_start(1, "a"))
    assert is_late_report(tasks, "a", at)
    assert not is_late_report(tasks, "b", at)
    assert is_late_report(apply_signals(build_list(1)), "b", at)
    assert not is_late_report(tasks, "a", compute_position(build_end(2, "a")))

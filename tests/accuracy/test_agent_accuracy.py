"""A reader that errs is found out by the figure that is there for it."""

import pytest

from termvisor.agents.adapters.adapter import Adapter, ScreenReading, SourceRecord
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen
from tests.accuracy.agent_accuracy import measure_accuracy
from tests.accuracy.labeled_scene import LabeledScene

F1 = ("screen alone, weighted F1", "together, weighted F1")
"""Before it begins, Claude Code's questions stand on the screen only: so what is published errs with the screen."""


class Altered:
    """Claude Code's adapter, with another eye or without ears."""

    def __init__(self, sees: str = "", *, is_deaf: bool = False):
        self._sees, self._is_deaf = sees, is_deaf

    def __getattr__(self, name: str) -> object:
        return getattr(ADAPTER, name)

    def classify_screen(self, screen: Screen) -> ScreenReading:
        return ScreenReading(state=self._sees, rule="made up") if self._sees else ADAPTER.classify_screen(screen)

    def read_record(self, record: SourceRecord) -> list[Signal]:
        return [] if self._is_deaf else list(ADAPTER.read_record(record))


def missed(adapter: Adapter | Altered) -> set[str]:
    (verdict,) = measure_accuracy([adapter])
    return {figure.name.partition(": ")[2] for figure in verdict.build_figures() if not figure.is_within_budget}


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [
        (ADAPTER, set()),
        (Altered("waiting_input"), {*F1, "screen alone, false waiting"}),
        (Altered("idle"), {*F1, "screen alone, waiting recall", "together, waiting recall"}),
    ],
    ids=["as it is", "sees questions everywhere", "sees none"],
)
def test_what_it_gets_wrong_is_told(adapter: Adapter | Altered, expected: set[str]) -> None:
    assert missed(adapter) == expected


def test_one_that_hears_nothing_is_not_praised_for_what_it_said() -> None:
    (verdict,) = measure_accuracy([Altered(is_deaf=True)])
    assert verdict.own_pairs.total() == 0
    assert verdict.build_figures()[0].comparison.startswith("0 of ")


def test_every_wrong_moment_is_named() -> None:
    (verdict,) = measure_accuracy([Altered("idle")])
    assert "question, screen: idle, was waiting_input" in verdict.mistakes


def test_where_two_states_are_right_either_is_counted_as_a_hit() -> None:
    moment = LabeledScene(version="1", name="compacted", truths=("idle", "completed"), screen_state="idle")
    assert [moment.pair_with_truth(said) for said in ("idle", "completed", "running")] == [
        ("idle", "idle"),
        ("completed", "completed"),
        ("idle", "running"),
    ]

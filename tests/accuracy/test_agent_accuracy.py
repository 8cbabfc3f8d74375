"""The accuracy figures: each kind of wrong detection misses the budget that covers it."""

import pytest

from termvisor.agents.adapters.adapter import Adapter, ScreenReading, SourceRecord
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen
from tests.accuracy.agent_accuracy import measure_accuracy
from tests.accuracy.labeled_scene import LabeledScene

F1 = ("screen alone, weighted F1", "together, weighted F1")
"""Claude Code's dialogs before its first turn are only on the screen, so the published state errs with it."""


class AlteredAdapter:
    """Claude Code's adapter with a fixed screen state or without records."""

    def __init__(self, screen_state: str = "", *, ignores_records: bool = False):
        self._screen_state, self._ignores_records = screen_state, ignores_records

    def __getattr__(self, name: str) -> object:
        return getattr(ADAPTER, name)

    def classify_screen(self, screen: Screen) -> ScreenReading:
        return (
            ScreenReading(state=self._screen_state, rule="made up")
            if self._screen_state
            else ADAPTER.classify_screen(screen)
        )

    def read_record(self, record: SourceRecord) -> list[Signal]:
        return [] if self._ignores_records else list(ADAPTER.read_record(record))


def list_missed_figures(adapter: Adapter | AlteredAdapter) -> set[str]:
    (accuracy,) = measure_accuracy([adapter])
    return {figure.name.partition(": ")[2] for figure in accuracy.build_figures() if not figure.is_within_budget}


@pytest.mark.parametrize(
    ("adapter", "expected"),
    [
        (ADAPTER, set()),
        (AlteredAdapter("waiting_input"), {*F1, "screen alone, false waiting"}),
        (AlteredAdapter("idle"), {*F1, "screen alone, waiting recall", "together, waiting recall"}),
    ],
    ids=["unchanged", "always waiting", "always idle"],
)
def test_a_wrong_screen_reading_misses_the_figures_for_it(
    adapter: Adapter | AlteredAdapter, expected: set[str]
) -> None:
    assert list_missed_figures(adapter) == expected


def test_an_adapter_without_records_gets_no_credit_for_own_signals() -> None:
    (accuracy,) = measure_accuracy([AlteredAdapter(ignores_records=True)])
    assert accuracy.own_pairs.total() == 0
    assert accuracy.build_figures()[0].comparison.startswith("0 of ")


def test_every_wrong_state_is_listed_as_a_mistake() -> None:
    (accuracy,) = measure_accuracy([AlteredAdapter("idle")])
    assert "question, screen: idle, was waiting_input" in accuracy.mistakes


def test_where_two_states_are_right_either_is_counted_as_a_hit() -> None:
    scene = LabeledScene(version="1", name="compacted", truths=("idle", "completed"), screen_state="idle")
    assert [scene.pair_with_truth(state) for state in ("idle", "completed", "running")] == [
        ("idle", "idle"),
        ("completed", "completed"),
        ("idle", "running"),
    ]

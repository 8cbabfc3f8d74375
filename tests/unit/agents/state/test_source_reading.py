"""What a source is worth at an instant."""

import pytest
from msgspec.structs import replace

from termvisor.agents.state.source_reading import agree, deadlines, witnesses
from termvisor.agents.state.thresholds import Measure
from tests.declared import DEFAULT, SOURCES
from tests.unit.agents.state.scene import ONE, at, knowing, says, working

BEATING = Measure(
    sources={"claude_code": tuple(replace(one, beats=one.name == "osc") for one in SOURCES["claude_code"])}
)


def freshness(seconds: float, *facts, measure: Measure = DEFAULT) -> dict[str, str]:
    ledger = knowing(*facts, measure=measure).ledgers[ONE]
    return {one.source.name: one.freshness for one in witnesses(ledger, "claude_code", at(seconds), measure)}


@pytest.mark.parametrize(
    ("seconds", "expected"), [(-5, "fresh"), (3, "fresh"), (3.001, "stale"), (15, "stale"), (15.001, "down")]
)
def test_a_source_that_promises_signs_of_life_is_measured_by_them(seconds: float, expected: str) -> None:
    assert freshness(seconds, says(0, "osc", "running"), measure=BEATING) == {"osc": expected}


@pytest.mark.parametrize(("seconds", "expected"), [(600, "fresh"), (600.001, "stale"), (9999, "stale")])
def test_any_other_is_believed_for_its_time(seconds: float, expected: str) -> None:
    assert freshness(seconds, says(0, "hook", "running")) == {"hook": expected}


def test_one_that_cannot_be_heard_is_down_at_once() -> None:
    assert freshness(1, says(0, "hook", "running"), says(1, "hook", kind="source_down")) == {"hook": "down"}


def test_a_look_that_agrees_vouches_for_an_old_word() -> None:
    assert freshness(650, says(0, "hook", "running"), working(640))["hook"] == "fresh"
    assert freshness(650, says(0, "hook", "waiting_input"), working(640))["hook"] == "stale"


def test_nobody_vouches_for_one_that_promised_to_speak() -> None:
    assert freshness(9, says(0, "osc", "running"), working(8), measure=BEATING)["osc"] == "stale"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("idle", "completed", True),
        ("idle", "error", True),
        ("waiting_input", "waiting_approval", True),
        ("running", "idle", False),
        ("running", "waiting_input", False),
        ("error", "waiting_approval", False),
    ],
)
def test_what_looks_alike_agrees(one, other, expected: bool) -> None:
    assert agree(one, other) is agree(other, one) is expected


def test_the_instants_at_which_time_changes_something_are_known() -> None:
    ledger = knowing(says(0, "osc", "running"), says(0, "hook", "running"), measure=BEATING).ledgers[ONE]
    assert sorted(deadlines(ledger, "claude_code", BEATING)) == [at(3) + 1, at(15) + 1, at(600) + 1]

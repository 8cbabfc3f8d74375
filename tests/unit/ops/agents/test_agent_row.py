import pytest

from termvisor.clock import NS
from termvisor.model.agent.state import Contradiction, Flags, UnknownReason
from termvisor.ops.agents._agent_row import beside, flags, row, spoken, state_cell, who
from termvisor.testing.world import NOON, MemoryWorld, shell

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("reason", ["no_signal", "stale_signal", "unknown_screen", "gap"])
def test_what_is_not_known_is_told_with_its_reason_and_never_as_rest(reason: UnknownReason) -> None:
    world = MemoryWorld()
    pane = world.pane(shell())
    world.agents.begin(pane.id)
    view = world.agents.become(pane.id, "unknown", reason=reason)
    told = state_cell(row(pane, view, NOON))
    assert told == f"unknown ({reason.replace('_', ' ')})"
    assert "idle" not in told


def test_a_pane_without_an_agent_has_no_state() -> None:
    told = row(MemoryWorld().pane(shell()), None, NOON)
    assert (told.state, told.agent, told.presence, told.needs_action) == (None, None, "unmanaged", False)
    assert spoken(told.state) == ""


def test_who_asks_a_person_is_marked() -> None:
    world = MemoryWorld()
    pane = world.pane(shell())
    world.agents.begin(pane.id)
    told = row(pane, world.agents.become(pane.id, "waiting_input"), NOON + 5 * NS)
    assert (state_cell(told), told.needs, told.state_age) == ("! waiting input", "answer", 5.0)
    assert who(told) == "pane 1 (work %1), claude_code"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (Flags(), []),
        (Flags(usage_limited=True, resets_at=NOON + 7200 * NS), ["usage limit for 2h"]),
        (Flags(usage_limited=True), ["usage limit"]),
        (Flags(compacting=True, auth_needed=True), ["compacting", "needs a login"]),
        (Flags(subtasks=1), ["1 subtask"]),
        (Flags(subtasks=1, ambiguous=True), ["1 subtask", "ambiguous"]),
        (
            Flags(contradicted=Contradiction(since=NOON - 12 * NS, by="screen", state="waiting_input")),
            ["but screen shows waiting input for 12s"],
        ),
    ],
)
def test_what_is_true_beside_the_state_is_told_in_words(told: Flags, words: list[str]) -> None:
    assert beside(flags(told, NOON)) == words


def test_a_limit_that_is_over_ends_in_no_time() -> None:
    assert flags(Flags(usage_limited=True, resets_at=NOON - NS), NOON).resets_in == 0.0


def test_a_secret_in_a_title_is_taken_out() -> None:
    world = MemoryWorld()
    pane = world.pane(shell())
    told = row(pane, world.agents.begin(pane.id, title=f"use {TOKEN}"), NOON)
    assert TOKEN not in told.agent_title

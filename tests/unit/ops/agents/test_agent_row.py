import pytest

from termvisor.clock import NS
from termvisor.model.agent.state import AgentFlags, StateContradiction, UnknownReason
from termvisor.ops.agents._agent_row import (
    build_agent_row,
    build_flag_item,
    describe_agent,
    format_state,
    format_state_cell,
    list_flag_labels,
)
from termvisor.testing.fake_services import NOON, FakeServices, build_shell_facts

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("reason", ["no_signal", "stale_signal", "unknown_screen", "gap"])
def test_what_is_not_known_is_told_with_its_reason_and_never_as_rest(reason: UnknownReason) -> None:
    world = FakeServices()
    pane = world.add_pane(build_shell_facts())
    world.agents.start_agent(pane.id)
    view = world.agents.set_state(pane.id, "unknown", reason=reason)
    told = format_state_cell(build_agent_row(pane, view, NOON))
    assert told == f"unknown ({reason.replace('_', ' ')})"
    assert "idle" not in told


def test_a_pane_without_an_agent_has_no_state() -> None:
    told = build_agent_row(FakeServices().add_pane(build_shell_facts()), None, NOON)
    assert (told.state, told.agent, told.presence, told.needs_action) == (None, None, "unmanaged", False)
    assert format_state(told.state) == ""


def test_who_asks_a_person_is_marked() -> None:
    world = FakeServices()
    pane = world.add_pane(build_shell_facts())
    world.agents.start_agent(pane.id)
    told = build_agent_row(pane, world.agents.set_state(pane.id, "waiting_input"), NOON + 5 * NS)
    assert (format_state_cell(told), told.needs, told.state_age) == ("! waiting input", "answer", 5.0)
    assert describe_agent(told) == "pane 1 (work %1), claude_code"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (AgentFlags(), []),
        (AgentFlags(usage_limited=True, resets_at=NOON + 7200 * NS), ["usage limit for 2h"]),
        (AgentFlags(usage_limited=True), ["usage limit"]),
        (AgentFlags(compacting=True, auth_needed=True), ["compacting", "needs a login"]),
        (AgentFlags(subtasks=1), ["1 subtask"]),
        (AgentFlags(subtasks=1, ambiguous=True), ["1 subtask", "ambiguous"]),
        (
            AgentFlags(contradicted=StateContradiction(since=NOON - 12 * NS, by="screen", state="waiting_input")),
            ["but screen shows waiting input for 12s"],
        ),
    ],
)
def test_what_is_true_beside_the_state_is_told_in_words(told: AgentFlags, words: list[str]) -> None:
    assert list_flag_labels(build_flag_item(told, NOON)) == words


def test_a_limit_that_is_over_ends_in_no_time() -> None:
    assert build_flag_item(AgentFlags(usage_limited=True, resets_at=NOON - NS), NOON).resets_in == 0.0


def test_a_secret_in_a_title_is_taken_out() -> None:
    world = FakeServices()
    pane = world.add_pane(build_shell_facts())
    told = build_agent_row(pane, world.agents.start_agent(pane.id, title=f"use {TOKEN}"), NOON)
    assert TOKEN not in told.agent_title

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
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize("reason", ["no_signal", "stale_signal", "unknown_screen", "unseen_version", "gap"])
def test_an_unknown_state_has_its_reason_and_is_never_idle(reason: UnknownReason) -> None:
    services = FakeServices()
    pane = services.add_pane(build_shell_facts())
    services.agents.start_agent(pane.id)
    view = services.agents.set_state(pane.id, "unknown", reason=reason)
    result = format_state_cell(build_agent_row(pane, view, NOON))
    assert result == f"unknown ({reason.replace('_', ' ')})"
    assert "idle" not in result


def test_a_pane_without_an_agent_has_no_state() -> None:
    result = build_agent_row(FakeServices().add_pane(build_shell_facts()), None, NOON)
    assert (result.state, result.agent, result.presence, result.needs_action) == (None, None, "unmanaged", False)
    assert format_state(result.state) == ""


def test_an_agent_that_needs_a_user_is_marked() -> None:
    services = FakeServices()
    pane = services.add_pane(build_shell_facts())
    services.agents.start_agent(pane.id)
    result = build_agent_row(pane, services.agents.set_state(pane.id, "waiting_input"), NOON + 5 * NS)
    assert (format_state_cell(result), result.needs, result.state_age) == ("! waiting input", "answer", 5.0)
    assert describe_agent(result) == "pane 1 (work %1), claude_code"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (AgentFlags(), []),
        (AgentFlags(usage_limited=True, resets_at=NOON + 7200 * NS), ["usage limit for 2h"]),
        (AgentFlags(usage_limited=True), ["usage limit"]),
        (AgentFlags(compacting=True, auth_needed=True), ["compacting", "login required"]),
        (AgentFlags(subtasks=1), ["1 subtask"]),
        (AgentFlags(subtasks=1, ambiguous=True), ["1 subtask", "ambiguous"]),
        (
            AgentFlags(contradicted=StateContradiction(since=NOON - 12 * NS, by="screen", state="waiting_input")),
            ["but screen shows waiting input for 12s"],
        ),
    ],
)
def test_flags_are_listed_as_labels(flags: AgentFlags, words: list[str]) -> None:
    assert list_flag_labels(build_flag_item(flags, NOON)) == words


def test_an_expired_limit_resets_in_zero_seconds() -> None:
    assert build_flag_item(AgentFlags(usage_limited=True, resets_at=NOON - NS), NOON).resets_in == 0.0


def test_a_secret_in_a_title_is_removed() -> None:
    services = FakeServices()
    pane = services.add_pane(build_shell_facts())
    result = build_agent_row(pane, services.agents.start_agent(pane.id, title=f"use {TOKEN}"), NOON)
    assert TOKEN not in result.agent_title

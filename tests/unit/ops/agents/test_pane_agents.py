import pytest

from termvisor.errors import BadRequest
from termvisor.ops.agents._pane_agents import (
    AgentFilterArgs,
    collect_agent_filters,
    list_agent_states,
    parse_state_filter,
    select_panes_with_agents,
)
from termvisor.testing.operation_calls import build_sample_services


async def test_every_pane_comes_with_its_agent_if_there_is_one() -> None:
    found = await select_panes_with_agents(await build_sample_services(op="status"), {}, gone=True)
    agents = [None if one.view is None else one.view.state.agent for one in found]
    assert agents == [None, "claude_code", None, "codex", "gemini", "opencode"]
    assert len(list_agent_states(found)) == 4


async def test_who_asks_for_agents_gets_no_pane_without_one() -> None:
    world = await build_sample_services(op="status")
    assert [one.pane.id for one in await select_panes_with_agents(world, {"state": "unknown"})] == [6]
    assert [one.pane.id for one in await select_panes_with_agents(world, {"needs_action": True})] == [2]


def test_only_what_was_asked_for_is_a_filter() -> None:
    assert collect_agent_filters(AgentFilterArgs()) == {}
    assert collect_agent_filters(AgentFilterArgs(state="idle", needs_action=True), pane="7") == {
        "state": "idle",
        "needs_action": True,
        "pane": "7",
    }


def test_states_are_named_one_by_one_or_by_kind() -> None:
    assert parse_state_filter("running, idle") == {"running", "idle"}
    assert (
        parse_state_filter("waiting")
        == parse_state_filter("waiting-approval,waiting_input")
        == {"waiting_approval", "waiting_input"}
    )


@pytest.mark.parametrize(("text", "hint"), [("runing", "running"), ("idle,", "The states are"), ("xyz", "completed")])
def test_a_state_that_there_is_not_is_refused_with_the_right_ones(text: str, hint: str) -> None:
    with pytest.raises(BadRequest, match="there is no state") as caught:
        parse_state_filter(text)
    assert hint in caught.value.hint


async def test_an_agent_that_there_is_not_is_refused_with_the_right_name() -> None:
    world = await build_sample_services(op="status")
    assert [one.pane.id for one in await select_panes_with_agents(world, {"agent": "codex"})] == [4]
    assert await select_panes_with_agents(world, {"agent": "copilot"}) == []
    with pytest.raises(BadRequest, match="no agent is called 'claude'") as caught:
        await select_panes_with_agents(world, {"agent": "claude"})
    assert "claude_code" in caught.value.hint

import pytest

from termvisor.errors import BadRequest
from termvisor.ops.agents._pane_agents import (
    AgentFilterArgs,
    collect_agent_filters,
    list_agent_states,
    parse_state_filter,
    select_panes_with_agents,
)
from termvisor.testing.sample_services import build_sample_services


async def test_every_pane_is_joined_with_its_agent() -> None:
    found = await select_panes_with_agents(await build_sample_services(op="status"), {}, gone=True)
    agents = [None if one.view is None else one.view.state.agent for one in found]
    assert agents == [None, "claude_code", None, "codex", "gemini", "opencode"]
    assert len(list_agent_states(found)) == 4


async def test_agent_filters_exclude_panes_without_an_agent() -> None:
    services = await build_sample_services(op="status")
    assert [one.pane.id for one in await select_panes_with_agents(services, {"state": "unknown"})] == [6]
    assert [one.pane.id for one in await select_panes_with_agents(services, {"needs_action": True})] == [2]


def test_only_given_options_are_filters() -> None:
    assert collect_agent_filters(AgentFilterArgs()) == {}
    assert collect_agent_filters(AgentFilterArgs(state="idle", needs_action=True), pane="7") == {
        "state": "idle",
        "needs_action": True,
        "pane": "7",
    }


def test_states_are_selected_by_name_or_group() -> None:
    assert parse_state_filter("running, idle") == {"running", "idle"}
    assert (
        parse_state_filter("waiting")
        == parse_state_filter("waiting-approval,waiting_input")
        == {"waiting_approval", "waiting_input"}
    )


@pytest.mark.parametrize(("text", "hint"), [("runing", "running"), ("idle,", "Known states"), ("xyz", "completed")])
def test_an_unknown_state_is_rejected_with_the_known_ones(text: str, hint: str) -> None:
    with pytest.raises(BadRequest, match="unknown state") as caught:
        parse_state_filter(text)
    assert hint in caught.value.hint


async def test_an_unknown_agent_is_rejected_with_the_closest_name() -> None:
    services = await build_sample_services(op="status")
    assert [one.pane.id for one in await select_panes_with_agents(services, {"agent": "codex"})] == [4]
    assert await select_panes_with_agents(services, {"agent": "copilot"}) == []
    with pytest.raises(BadRequest, match="unknown agent 'claude'") as caught:
        await select_panes_with_agents(services, {"agent": "claude"})
    assert "claude_code" in caught.value.hint

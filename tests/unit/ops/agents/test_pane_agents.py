import pytest

from termvisor.errors import BadRequest
from termvisor.ops.agents._pane_agents import Chosen, agents_of, crew, given, states
from termvisor.testing.asking import lively


async def test_every_pane_comes_with_its_agent_if_there_is_one() -> None:
    found = await crew(await lively(op="status"), {}, gone=True)
    agents = [None if one.view is None else one.view.state.agent for one in found]
    assert agents == [None, "claude_code", None, "codex", "gemini", "opencode"]
    assert len(agents_of(found)) == 4


async def test_who_asks_for_agents_gets_no_pane_without_one() -> None:
    world = await lively(op="status")
    assert [one.pane.id for one in await crew(world, {"state": "unknown"})] == [6]
    assert [one.pane.id for one in await crew(world, {"needs_action": True})] == [2]


def test_only_what_was_asked_for_is_a_filter() -> None:
    assert given(Chosen()) == {}
    assert given(Chosen(state="idle", needs_action=True), pane="7") == {
        "state": "idle",
        "needs_action": True,
        "pane": "7",
    }


def test_states_are_named_one_by_one_or_by_kind() -> None:
    assert states("running, idle") == {"running", "idle"}
    assert states("waiting") == states("waiting-approval,waiting_input") == {"waiting_approval", "waiting_input"}


@pytest.mark.parametrize(("text", "hint"), [("runing", "running"), ("idle,", "The states are"), ("xyz", "completed")])
def test_a_state_that_there_is_not_is_refused_with_the_right_ones(text: str, hint: str) -> None:
    with pytest.raises(BadRequest, match="there is no state") as caught:
        states(text)
    assert hint in caught.value.hint


async def test_an_agent_that_there_is_not_is_refused_with_the_right_name() -> None:
    world = await lively(op="status")
    assert [one.pane.id for one in await crew(world, {"agent": "codex"})] == [4]
    assert await crew(world, {"agent": "copilot"}) == []
    with pytest.raises(BadRequest, match="no agent is called 'claude'") as caught:
        await crew(world, {"agent": "claude"})
    assert "claude_code" in caught.value.hint

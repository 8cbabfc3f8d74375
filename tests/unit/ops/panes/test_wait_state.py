import pytest

from termvisor.errors import AgentNotFound, BadRequest
from termvisor.ops.panes._wait_state import AgentStateMatcher
from termvisor.testing.fake_services import FakeServices, build_shell_facts


async def test_an_agent_that_comes_is_waited_for_until_it_is_there() -> None:
    world = FakeServices()
    pane, wanted = world.add_pane(build_shell_facts()), AgentStateMatcher(world, "idle,waiting")
    assert await wanted.find_agent(pane) is None
    world.agents.start_agent(pane.id)
    assert await wanted.find_agent(pane) is None
    view = world.agents.set_state(pane.id, "waiting_input")
    assert await wanted.find_agent(pane) == view


async def test_one_that_goes_or_is_another_by_now_ends_the_wait() -> None:
    world = FakeServices()
    pane, wanted = world.add_pane(build_shell_facts()), AgentStateMatcher(world, "idle")
    world.agents.start_agent(pane.id)
    assert await wanted.find_agent(pane) is None
    world.agents.end_agent(pane.id)
    with pytest.raises(AgentNotFound, match="ended before it was idle"):
        await wanted.find_agent(pane)
    world.agents.start_agent(pane.id)
    world.agents.set_state(pane.id, "idle")
    with pytest.raises(AgentNotFound):
        await wanted.find_agent(pane)


def test_a_state_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(BadRequest):
        AgentStateMatcher(FakeServices(), "busy")

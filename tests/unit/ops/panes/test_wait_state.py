import pytest

from termvisor.errors import BadRequest, NoAgent
from termvisor.ops.panes._wait_state import InState
from termvisor.testing.world import MemoryWorld, shell


async def test_an_agent_that_comes_is_waited_for_until_it_is_there() -> None:
    world = MemoryWorld()
    pane, wanted = world.pane(shell()), InState(world, "idle,waiting")
    assert await wanted.view(pane) is None
    world.agents.begin(pane.id)
    assert await wanted.view(pane) is None
    view = world.agents.become(pane.id, "waiting_input")
    assert await wanted.view(pane) == view


async def test_one_that_goes_or_is_another_by_now_ends_the_wait() -> None:
    world = MemoryWorld()
    pane, wanted = world.pane(shell()), InState(world, "idle")
    world.agents.begin(pane.id)
    assert await wanted.view(pane) is None
    world.agents.leave(pane.id)
    with pytest.raises(NoAgent, match="ended before it was idle"):
        await wanted.view(pane)
    world.agents.begin(pane.id)
    world.agents.become(pane.id, "idle")
    with pytest.raises(NoAgent):
        await wanted.view(pane)


def test_a_state_that_there_is_not_is_refused_at_once() -> None:
    with pytest.raises(BadRequest):
        InState(MemoryWorld(), "busy")

"""An agent's request at the door, in a world in memory."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.errors import Conflict, Refused
from termvisor.model.action.action import Action, AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.agent.tool_finished import ToolEnd, spelled
from termvisor.ops.approvals.hook_permission import HookPermission, PermissionAnswer, run
from termvisor.testing.world import MemoryWorld, settled, shell

REQUEST = json.dumps({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}})
ALLOWED = Outcome(status="done", why="allow", text="yes", correlation="c1")


class Waiting:
    """A door at which nobody answers."""

    def __init__(self) -> None:
        self.is_left = False

    async def do(self, _action: Action, _terms: Terms) -> Outcome:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            self.is_left = True


@pytest.fixture
async def world() -> MemoryWorld:
    return MemoryWorld()


async def asked(world: MemoryWorld, agent: str = "claude_code", **more: object) -> PermissionAnswer:
    return await run(world, HookPermission(agent=agent, text=REQUEST, **more))


async def test_the_answer_is_what_the_door_says(world: MemoryWorld) -> None:
    world.door.outcome = ALLOWED
    answer = await asked(world, wait_secs=20)
    assert (answer.decision, answer.text, answer.correlation) == ("allow", "yes", "c1")
    wish, terms = world.door.done[0]
    assert isinstance(wish, AnswerAgent)
    assert (wish.command, wish.pane, terms.wait_for_answer) == ("make", None, 20)


async def test_without_an_answer_the_caller_hears_why(world: MemoryWorld) -> None:
    world.door.error = Refused("nobody answered in time")
    with pytest.raises(Refused, match="nobody answered"):
        await asked(world)


async def test_the_pane_is_known_by_the_session_or_by_the_multiplexer(world: MemoryWorld) -> None:
    world.door.outcome = ALLOWED
    other, own = world.pane(shell("%4")), world.pane(shell("%5"))
    where = {"tmux": f"{own.instance.server.socket},12,0", "tmux_pane": "%5"}
    await asked(world, **where)
    await asked(world, agent="codex", **where)
    world.agents.begin(other.id)
    world.agents.use(other.id, world.agents.known[other.id].session.usage, external_id="s1")
    await asked(world, **where)
    assert [wish.pane for wish, _ in world.door.done] == [own.id, None, other.id]


async def test_an_answer_in_the_agents_own_dialog_ends_the_question(world: MemoryWorld, monkeypatch) -> None:
    door = Waiting()
    monkeypatch.setattr(world, "door", door)
    pane = world.pane(shell("%5"))
    world.agents.begin(pane.id)
    world.agents.use(pane.id, world.agents.known[pane.id].session.usage, external_id="s1")
    asking = asyncio.ensure_future(asked(world))
    await settled()
    for state in ("running", "waiting_approval", "unknown"):
        world.agents.become(pane.id, state)
        await settled()
        assert not asking.done()
    world.agents.become(pane.id, "running")
    with pytest.raises(Conflict, match="elsewhere"):
        await asking
    assert door.is_left


async def test_of_several_that_wait_the_one_whose_tool_ended_is_withdrawn(world: MemoryWorld, monkeypatch) -> None:
    monkeypatch.setattr(world, "door", Waiting())
    asking = asyncio.ensure_future(asked(world))
    await settled()
    now = world.clock.now()
    mine = ToolEnd(session="s1", tool="Bash", given=spelled({"command": "make"}), at=now)
    others = (
        replace(mine, session="s2"),
        replace(mine, tool="Read"),
        replace(mine, given=spelled({"command": "make all"})),
        replace(mine, at=now - 5 * NS),
    )
    for end in others:
        world.agents.ended_tools.publish(end)
    await settled()
    assert not asking.done()
    world.agents.ended_tools.publish(mine)
    with pytest.raises(Conflict, match="elsewhere"):
        await asking


async def test_an_agent_that_is_done_has_no_question_left_even_if_its_waiting_was_not_seen(
    world: MemoryWorld, monkeypatch
) -> None:
    monkeypatch.setattr(world, "door", Waiting())
    pane, other = world.pane(shell("%5")), world.pane(shell("%6"))
    for one in (pane, other):
        world.agents.begin(one.id)
    world.agents.become(pane.id, "idle")
    asking = asyncio.ensure_future(asked(world, tmux=f"{pane.instance.server.socket},1,0", tmux_pane="%5"))
    await settled()
    world.agents.become(other.id, "completed")
    await settled()
    assert not asking.done()
    world.agents.become(pane.id, "completed")
    with pytest.raises(Conflict):
        await asking


async def test_a_hook_that_goes_away_takes_its_question_with_it(world: MemoryWorld, monkeypatch) -> None:
    door = Waiting()
    monkeypatch.setattr(world, "door", door)
    asking = asyncio.ensure_future(asked(world))
    await settled()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert door.is_left

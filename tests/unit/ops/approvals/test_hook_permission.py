"""An agent's request at the door, in a world in memory."""

import asyncio
import json

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.errors import Conflict, Refused
from termvisor.model.action.action import Action, AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.tool_finished import ToolFinished, encode_tool_input
from termvisor.ops.approvals.hook_permission import HookPermissionArgs, PermissionAnswer, run
from termvisor.testing.fake_services import FakeServices, build_shell_facts, let_tasks_run

REQUEST = json.dumps({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}})
ALLOWED = Outcome(status="done", why="allow", text="yes", correlation="c1")


class Waiting:
    """A door at which nobody answers."""

    def __init__(self) -> None:
        self.is_left = False

    async def run(self, _action: Action, _terms: Preconditions) -> Outcome:
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            self.is_left = True


@pytest.fixture
async def world() -> FakeServices:
    return FakeServices()


async def asked(world: FakeServices, agent: str = "claude_code", **more: object) -> PermissionAnswer:
    return await run(world, HookPermissionArgs(agent=agent, text=REQUEST, **more))


async def test_the_answer_is_what_the_door_says(world: FakeServices) -> None:
    world.gate.outcome = ALLOWED
    answer = await asked(world, wait_secs=20)
    assert (answer.decision, answer.text, answer.correlation) == ("allow", "yes", "c1")
    wish, terms = world.gate.executed[0]
    assert isinstance(wish, AnswerAgent)
    assert (wish.command, wish.pane, terms.wait_for_answer) == ("make", None, 20)


async def test_without_an_answer_the_caller_hears_why(world: FakeServices) -> None:
    world.gate.error = Refused("nobody answered in time")
    with pytest.raises(Refused, match="nobody answered"):
        await asked(world)


async def test_the_pane_is_known_by_the_session_or_by_the_multiplexer(world: FakeServices) -> None:
    world.gate.outcome = ALLOWED
    other, own = world.add_pane(build_shell_facts("%4")), world.add_pane(build_shell_facts("%5"))
    where = {"tmux": f"{own.instance.server.socket},12,0", "tmux_pane": "%5"}
    await asked(world, **where)
    await asked(world, agent="codex", **where)
    world.agents.start_agent(other.id)
    world.agents.set_usage(other.id, world.agents.views_by_pane[other.id].session.usage, external_id="s1")
    await asked(world, **where)
    assert [wish.pane for wish, _ in world.gate.executed] == [own.id, None, other.id]


async def test_an_answer_in_the_agents_own_dialog_ends_the_question(world: FakeServices, monkeypatch) -> None:
    door = Waiting()
    monkeypatch.setattr(world, "gate", door)
    pane = world.add_pane(build_shell_facts("%5"))
    world.agents.start_agent(pane.id)
    world.agents.set_usage(pane.id, world.agents.views_by_pane[pane.id].session.usage, external_id="s1")
    asking = asyncio.ensure_future(asked(world))
    await let_tasks_run()
    for state in ("running", "waiting_approval", "unknown"):
        world.agents.set_state(pane.id, state)
        await let_tasks_run()
        assert not asking.done()
    world.agents.set_state(pane.id, "running")
    with pytest.raises(Conflict, match="elsewhere"):
        await asking
    assert door.is_left


async def test_of_several_that_wait_the_one_whose_tool_ended_is_withdrawn(world: FakeServices, monkeypatch) -> None:
    monkeypatch.setattr(world, "gate", Waiting())
    asking = asyncio.ensure_future(asked(world))
    await let_tasks_run()
    now = world.clock.now()
    mine = ToolFinished(session="s1", tool="Bash", given=encode_tool_input({"command": "make"}), at=now)
    others = (
        replace(mine, session="s2"),
        replace(mine, tool="Read"),
        replace(mine, given=encode_tool_input({"command": "make all"})),
        replace(mine, at=now - 5 * NS),
    )
    for end in others:
        world.agents.tool_end_bus.publish(end)
    await let_tasks_run()
    assert not asking.done()
    world.agents.tool_end_bus.publish(mine)
    with pytest.raises(Conflict, match="elsewhere"):
        await asking


async def test_an_agent_that_is_done_has_no_question_left_even_if_its_waiting_was_not_seen(
    world: FakeServices, monkeypatch
) -> None:
    monkeypatch.setattr(world, "gate", Waiting())
    pane, other = world.add_pane(build_shell_facts("%5")), world.add_pane(build_shell_facts("%6"))
    for one in (pane, other):
        world.agents.start_agent(one.id)
    world.agents.set_state(pane.id, "idle")
    asking = asyncio.ensure_future(asked(world, tmux=f"{pane.instance.server.socket},1,0", tmux_pane="%5"))
    await let_tasks_run()
    world.agents.set_state(other.id, "completed")
    await let_tasks_run()
    assert not asking.done()
    world.agents.set_state(pane.id, "completed")
    with pytest.raises(Conflict):
        await asking


async def test_a_hook_that_goes_away_takes_its_question_with_it(world: FakeServices, monkeypatch) -> None:
    door = Waiting()
    monkeypatch.setattr(world, "gate", door)
    asking = asyncio.ensure_future(asked(world))
    await let_tasks_run()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert door.is_left

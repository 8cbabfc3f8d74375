"""A session is taken up again in its own folder, beside where it was, and never twice."""

import pytest
from msgspec.structs import replace

from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.testing.asking import ask, lively

ENDED = AgentSession(
    id=SessionId(40),
    runtime=RuntimeId(90),
    pane=PaneId(3),
    agent="codex",
    external_id="0196",
    cwd="/src",
    started_at=1,
    ended_at=2,
    resume=("codex", "resume", "0196"),
)


@pytest.fixture
async def world():
    found = await lively(op="interrupt")
    found.agents.told.append(ENDED)
    found.door.outcome = Outcome(status="done", correlation="c0ffee")
    return found


async def test_its_own_command_starts_in_its_own_folder(world):
    for name in ("40", "0196"):
        answered = await ask(world, "robot", "resume", name)
        assert answered.status == 0, answered.out
    action = world.door.done[-1][0]
    assert (action.command, action.cwd, action.where) == (("codex", "resume", "0196"), "/src", "window")


async def test_one_that_goes_on_is_not_started_again(world):
    answered = await ask(world, "robot", "resume", "5e55")
    assert (answered.status, world.door.done) == (75, [])
    assert "goes on in pane 2" in answered.envelope["error"]["message"]


async def test_an_unknown_one_and_one_without_a_way_are_said(world):
    assert (await ask(world, "robot", "resume", "nobody")).status == 4
    world.agents.told.append(replace(ENDED, id=SessionId(41), external_id="x", resume=()))
    assert (await ask(world, "robot", "resume", "41")).envelope["error"]["code"] == "unsupported"

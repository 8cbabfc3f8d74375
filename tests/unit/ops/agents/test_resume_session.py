"""A session is taken up again in its own folder, beside where it was, and never twice."""

import pytest
from msgspec.structs import replace

from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.testing.operation_calls import build_sample_services, run_command

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
    found = await build_sample_services(op="interrupt")
    found.agents.stored_sessions.append(ENDED)
    found.gate.outcome = Outcome(status="done", correlation="c0ffee")
    return found


async def test_its_own_command_starts_in_its_own_folder(world):
    for name in ("40", "0196"):
        answered = await run_command(world, "robot", "resume", name)
        assert answered.status == 0, answered.out
    action = world.gate.executed[-1][0]
    assert (action.command, action.cwd, action.where) == (("codex", "resume", "0196"), "/src", "window")


async def test_one_that_goes_on_is_not_started_again(world):
    answered = await run_command(world, "robot", "resume", "5e55")
    assert (answered.status, world.gate.executed) == (75, [])
    assert "goes on in pane 2" in answered.envelope["error"]["message"]


async def test_an_unknown_one_and_one_without_a_way_are_said(world):
    assert (await run_command(world, "robot", "resume", "nobody")).status == 4
    world.agents.stored_sessions.append(replace(ENDED, id=SessionId(41), external_id="x", resume=()))
    assert (await run_command(world, "robot", "resume", "41")).envelope["error"]["code"] == "unsupported"

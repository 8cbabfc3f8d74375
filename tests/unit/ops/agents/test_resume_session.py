"""`resume` starts a session in its directory and tmux session, and never twice."""

import pytest
from msgspec.structs import replace

from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, RuntimeId, SessionId
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

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
async def services():
    found = await build_sample_services(op="interrupt")
    found.agents.stored_sessions.append(ENDED)
    found.gate.outcome = Outcome(status="done", correlation="c0ffee")
    return found


async def test_the_resume_command_starts_in_the_sessions_directory(services):
    for name in ("40", "0196"):
        result = await run_command(services, "robot", "resume", name)
        assert result.status == 0, result.out
    action = services.gate.executed[-1][0]
    assert (action.command, action.cwd, action.where) == (("codex", "resume", "0196"), "/src", "window")


async def test_a_running_session_is_not_started_again(services):
    result = await run_command(services, "robot", "resume", "5e55")
    assert (result.status, services.gate.executed) == (75, [])
    assert "already running in pane 2" in result.envelope["error"]["message"]


async def test_an_unknown_session_and_one_without_a_command_are_refused(services):
    assert (await run_command(services, "robot", "resume", "nobody")).status == 4
    services.agents.stored_sessions.append(replace(ENDED, id=SessionId(41), external_id="x", resume=()))
    assert (await run_command(services, "robot", "resume", "41")).envelope["error"]["code"] == "unsupported"

"""Commands to an agent: target, channel and outcome."""

import pytest

from termvisor.errors import NotFound
from termvisor.model.action.action import AnswerDialog, Interrupt, QuitAgent
from termvisor.model.action.outcome import Outcome
from termvisor.ops.input._agent_commands import resolve_agent
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE
from termvisor.testing.sample_services import build_sample_services


@pytest.fixture
async def services():
    found = await build_sample_services(op="interrupt")
    found.gate.outcome = Outcome(status="done", why="interrupted", channel="native", correlation="c0ffee")
    return found


@pytest.mark.parametrize(
    ("words", "action"),
    [
        (("interrupt", "2"), Interrupt(pane=ASKING_PANE, agent="claude_code")),
        (("quit", "2"), QuitAgent(pane=ASKING_PANE, agent="claude_code")),
        (("answer", "2", "allow"), AnswerDialog(pane=ASKING_PANE, agent="claude_code", choice="allow")),
        (
            ("answer", "2", "Yes,", "and", "more"),
            AnswerDialog(pane=ASKING_PANE, agent="claude_code", choice="Yes, and more"),
        ),
    ],
)
async def test_each_command_builds_its_action_for_the_agent(services, words, action):
    answered = await run_command(services, "robot", *words)
    data = answered.envelope["data"]
    assert (data["agent"], data["channel"], data["status"]) == ("claude_code", "native", "done")
    assert services.gate.executed[-1][0] == action


async def test_a_pane_without_an_agent_gets_no_command(services):
    answered = await run_command(services, "robot", "interrupt", "1")
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "agent_not_found")
    with pytest.raises(NotFound, match="no agent"):
        await resolve_agent(services, "1")


async def test_an_unverified_outcome_has_its_exit_status(services):
    services.gate.outcome = Outcome(status="unknown", why="still_at_work", text="it is not seen to have stopped")
    answered = await run_command(services, "interrupt", "2")
    assert answered.status == 6
    assert "not seen to have stopped" in answered.out


async def test_a_dry_run_executes_nothing(services):
    answered = await run_command(services, "robot", "quit", "2", "--dry-run")
    assert (answered.envelope["data"]["status"], services.gate.executed) == ("foreseen", [])

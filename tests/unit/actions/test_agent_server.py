import pytest

from termvisor.actions.agent_server import send_interrupt, send_prompt
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.model.ids import PaneId
from tests.unit.actions.scripted_session import ScriptedSessionControl


async def step(_step: str) -> None:
    return None


async def test_a_prompt_that_starts_a_turn_is_delivered():
    line = ScriptedSessionControl()
    ended = await send_prompt(line, "go on", "title", step)
    assert (ended.status, ended.why, ended.channel, line.said) == ("delivered", "turn_started", "native", ["go on"])


@pytest.mark.parametrize(
    ("begins", "status"),
    [(BadRequest("busy"), "refused"), (TimedOut("x"), "unknown"), (Unavailable("x"), "unknown"), (False, "unknown")],
)
async def test_a_rejected_prompt_is_refused_and_no_answer_is_unknown(begins, status):
    line = ScriptedSessionControl()
    line.begins = begins
    assert (await send_prompt(line, "go on", "title", step)).status == status
    assert line.said == ["go on"], "it is never said twice"


async def test_a_stopped_turn_is_verified():
    outcome = await send_interrupt(ScriptedSessionControl(stops=True), PaneId(1))
    assert (outcome.status, outcome.channel) == ("done", "native")


async def test_an_idle_agent_is_not_interrupted_and_an_unverified_stop_is_unknown():
    assert await send_interrupt(ScriptedSessionControl(stops=None), PaneId(1)) is None
    assert (await send_interrupt(ScriptedSessionControl(stops=False), PaneId(1))).why == "still_at_work"
    silent = ScriptedSessionControl()
    silent.is_silent = True
    assert (await send_interrupt(silent, PaneId(1))).why == "no_answer"

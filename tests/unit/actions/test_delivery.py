"""A prompt sent by an agent's server."""

import pytest

from termvisor.actions.delivery import send_prompt
from termvisor.errors import BadRequest, TimedOut, Unavailable
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

"""A prompt sent by an agent's server."""

import pytest

from termvisor.actions.delivery import send_prompt
from termvisor.errors import BadRequest, TimedOut, Unavailable
from tests.unit.actions.scripted_session import ScriptedSessionControl


async def step(_step: str) -> None:
    return None


async def test_a_prompt_that_starts_a_turn_is_delivered():
    session = ScriptedSessionControl()
    ended = await send_prompt(session, "go on", "title", step)
    assert (ended.status, ended.why, ended.channel, session.received) == (
        "delivered",
        "turn_started",
        "native",
        ["go on"],
    )


@pytest.mark.parametrize(
    ("starts_turn", "status"),
    [(BadRequest("busy"), "refused"), (TimedOut("x"), "unknown"), (Unavailable("x"), "unknown"), (False, "unknown")],
)
async def test_a_rejected_prompt_is_refused_and_no_answer_is_unknown(starts_turn, status):
    session = ScriptedSessionControl()
    session.starts_turn = starts_turn
    assert (await send_prompt(session, "go on", "title", step)).status == status
    assert session.received == ["go on"], "it is never sent twice"

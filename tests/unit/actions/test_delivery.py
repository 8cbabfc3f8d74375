"""A prompt sent by an agent's server."""

import pytest
from msgspec.structs import replace

from termvisor.actions.delivery import send_prompt
from termvisor.actions.text_typer import TypingResult
from termvisor.errors import BadRequest, TimedOut, Unavailable
from termvisor.model.action.action import SendText
from termvisor.model.ids import PaneId
from tests.property.faulty_pane import NOON, FaultyPane
from tests.unit.actions.scripted_gate import GateOnScriptedPane
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


@pytest.mark.parametrize(
    ("starts_turn", "expected"),
    [
        (True, TypingResult("delivered", "turn_started", channel="native")),
        (False, TypingResult("unknown", "not_confirmed", "the agent's server reported no new turn")),
        (BadRequest("busy"), TypingResult("refused", "server_refused", "the agent's server rejected it: busy")),
        (TimedOut("x"), TypingResult("unknown", "no_answer", "the agent's server did not confirm it: x")),
        (Unavailable("x"), TypingResult("unknown", "no_answer", "the agent's server did not confirm it: x")),
    ],
)
async def test_a_prompt_is_announced_before_it_is_sent_and_its_result_is_complete(starts_turn, expected):
    session, steps = ScriptedSessionControl(), []
    session.starts_turn = starts_turn

    async def record_step(name: str) -> None:
        steps.append((name, list(session.received)))

    assert await send_prompt(session, "go on", "title", record_step) == expected
    assert steps == [("submitting", [])]


class PaneWithServer(FaultyPane):
    """Codex with a connected server."""

    session = ScriptedSessionControl()

    async def take_snapshot(self, pane, preconditions):
        return replace(await super().take_snapshot(pane, preconditions), takes_prompts=True, has_agent_server=True)

    def get_session_control(self, pane):
        return self.session


@pytest.mark.parametrize(
    ("starts_turn", "status", "why", "channel"),
    [(True, "delivered", "turn_started", "native"), (TimedOut("x"), "unknown", "no_answer", None)],
)
async def test_a_text_for_an_agent_with_a_server_is_not_typed(monkeypatch, starts_turn, status, why, channel):
    scene = GateOnScriptedPane("idle")
    scene.pane.__class__ = PaneWithServer
    scene.pane.session = ScriptedSessionControl()
    scene.pane.session.starts_turn = starts_turn
    outcome = await scene.run(SendText(pane=PaneId(1), text="go on"))
    assert (outcome.status, outcome.why, outcome.channel, outcome.bytes_sent) == (status, why, channel, 5)
    assert (scene.pane.session.received, scene.pane.typed, scene.pane.pressed) == (["go on"], [], [])
    assert outcome.sent_at == int(NOON * 10**9)
    assert await scene.list_stages() == [("intent", "", ""), ("outcome", status, why)]


async def test_a_text_without_enter_is_typed_even_if_a_server_is_connected():
    scene = GateOnScriptedPane("idle")
    scene.pane.__class__ = PaneWithServer
    outcome = await scene.run(SendText(pane=PaneId(1), text="go on", enter=False))
    assert (outcome.status, outcome.why, outcome.channel) == ("typed_not_submitted", "as_wanted", "keys")
    assert (scene.pane.typed, scene.pane.pressed) == (["go on"], [])

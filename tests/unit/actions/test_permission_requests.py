"""What an agent asks is one question, and gets one answer or none."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.actions.permission_requests import (
    DialogPermissionRequest,
    PendingPermissionRequests,
    PermissionDependencies,
    WaitingAgent,
    forward_dialog_request,
    forward_server_request,
)
from termvisor.errors import Conflict, Refused, TimedOut
from termvisor.model.action.action import Actor, AnswerAgent, AnswerDialog
from termvisor.model.action.outcome import Outcome
from termvisor.model.ids import PaneId
from tests.unit.actions.scripted_screen import build_snapshot
from tests.unit.actions.scripted_session import PERMISSION_REQUEST, ScriptedSessionControl

ME = Actor(kind="workflow", uid=1, pid=2, name="inbox")
PANE = PaneId(1)


class Gate:
    """Says what a person says, and does it as the real one would."""

    def __init__(self, answer: str = "allow"):
        self.answer, self.pleas = answer, PendingPermissionRequests()
        self.wanted: list[object] = []
        self.is_asked = asyncio.Event()

    @property
    def means(self) -> PermissionDependencies:
        return PermissionDependencies(gate=self, pending=self.pleas, actor=ME)

    async def run(self, action: object, actor: Actor, terms: object) -> Outcome:
        self.wanted.append(action)
        if not isinstance(action, AnswerAgent):
            return Outcome(status="done")
        self.is_asked.set()
        if self.answer == "nothing":
            await asyncio.Event().wait()
        if self.answer in ("denied", "expired"):
            raise Refused("no", details={"why": self.answer, "correlation": "c"})
        self.outcome = await self.pleas.find_allow_callback(action.request)(build_snapshot(()))
        return self.outcome


async def test_a_yes_goes_back_to_the_very_request_and_it_is_heard_only_so_long():
    gate, line = Gate(), ScriptedSessionControl(PERMISSION_REQUEST)
    assert await forward_server_request(gate.means, line, WaitingAgent("codex", PANE)) == "answered"
    assert (line.said, line.is_held) == (["allow"], False)
    (action,) = gate.wanted
    assert (action.agent, action.tool, action.command, action.cwd) == ("codex", "shell", "touch made", "/src")
    assert "to see" in action.given
    assert (action.session, action.request.startswith("3:i:")) == (line.session, True)
    assert gate.pleas.find_allow_callback(action.request) is None


async def test_a_no_goes_back_too():
    gate, line = Gate("denied"), ScriptedSessionControl(PERMISSION_REQUEST)
    assert await forward_server_request(gate.means, line, WaitingAgent("codex", PANE)) == "answered"
    assert line.said == ["deny"]


async def test_what_nobody_answered_is_not_answered():
    gate, line = Gate("expired"), ScriptedSessionControl(PERMISSION_REQUEST)
    assert await forward_server_request(gate.means, line, WaitingAgent("codex", PANE)) == "answered"
    assert line.said == []


async def test_a_yes_that_the_server_did_not_confirm_is_unknown_and_not_said_again():
    gate, line = Gate(), ScriptedSessionControl(PERMISSION_REQUEST)
    line.is_silent = True
    assert await forward_server_request(gate.means, line, WaitingAgent("opencode", PANE)) == "answered"
    assert (gate.outcome.status, gate.outcome.why, line.said) == ("unknown", "not_confirmed", ["allow"])


@pytest.mark.parametrize(("is_lost", "end"), [(False, "elsewhere"), (True, "lost")])
async def test_an_answer_at_the_pane_or_a_line_that_breaks_gives_the_question_up(is_lost, end):
    gate, line = Gate("nothing"), ScriptedSessionControl(PERMISSION_REQUEST)
    task = asyncio.ensure_future(forward_server_request(gate.means, line, WaitingAgent("codex", PANE)))
    await gate.is_asked.wait()
    assert gate.pleas.is_pending(PANE, "hook")
    line.is_lost = is_lost
    line.resolved.set()
    assert await task == end
    assert line.said == []
    assert not gate.pleas.is_pending(PANE, "hook")


async def test_what_was_dealt_with_is_not_asked_again_but_the_next_is():
    gate, line, asker = Gate("expired"), ScriptedSessionControl(PERMISSION_REQUEST), WaitingAgent("opencode", PANE)
    assert await forward_server_request(gate.means, line, asker) == "answered"
    with pytest.raises(TimedOut):
        await forward_server_request(gate.means, line, asker)
    line.waiting = replace(PERMISSION_REQUEST, id="4:i")
    assert await forward_server_request(gate.means, line, asker) == "answered"
    assert (len(gate.wanted), asker.handled_ids) == (2, {"3:i", "4:i"})


async def test_where_nothing_waits_nobody_is_asked():
    line, gate = ScriptedSessionControl(), Gate()
    with pytest.raises(TimedOut):
        await forward_server_request(gate.means, line, WaitingAgent("codex", PANE))
    assert (gate.wanted, line.is_held) == ([], False)


def test_one_request_is_on_its_way_by_one_way_only():
    pleas = PendingPermissionRequests()
    with pleas.track_request(PANE, "hook"), pleas.track_request(PANE, "hook"):
        with pytest.raises(Conflict), pleas.track_request(PANE, "server"):
            raise AssertionError("two ways")
        with pleas.track_request(PaneId(2), "server"), pleas.track_request(None, "server"):
            assert pleas.is_pending(PANE, "dialog")
    assert not pleas.is_pending(PANE, "server")


class Speaker:
    def __init__(self) -> None:
        self.picked: list[tuple[str, tuple[str, ...]]] = []

    def hand(self, _belief: object) -> "Speaker":
        return self

    async def pick(self, choice: str, rows: tuple[str, ...]) -> Outcome:
        self.picked.append((choice, rows))
        return Outcome(status="done", why="dialog_left")


DIALOG = DialogPermissionRequest(
    pane=PANE, agent="copilot", rows=("│ touch made │", "│ ❯ 1. Yes │"), command="touch made"
)


async def never() -> str:
    await asyncio.Event().wait()
    return "elsewhere"


async def test_a_dialog_is_answered_by_its_keys():
    gate, speaker = Gate(), Speaker()
    assert await forward_dialog_request(gate.means, speaker, DIALOG, never()) == "answered"
    assert speaker.picked == [("allow", DIALOG.rows)]


async def test_a_dialog_is_refused_through_the_gate():
    gate, speaker = Gate("denied"), Speaker()
    await forward_dialog_request(gate.means, speaker, DIALOG, never())
    refusal = gate.wanted[-1]
    assert isinstance(refusal, AnswerDialog)
    assert (refusal.choice, refusal.rows, speaker.picked) == ("deny", DIALOG.rows, [])


def test_a_command_that_the_dialog_does_not_show_is_not_judged():
    assert DIALOG.action.command == "touch made"
    other = DialogPermissionRequest(pane=PANE, agent="copilot", rows=DIALOG.rows, command="rm -rf build")
    assert (other.action.command, "touch made" in other.action.given) == ("", True)


def test_a_dialog_whose_hook_was_just_answered_is_no_new_request():
    now = [10.0]
    pleas, pane = PendingPermissionRequests(lambda: now[0]), PaneId(1)
    with pleas.track_request(pane, "hook"):
        assert pleas.is_pending(pane, "dialog")
    assert pleas.is_pending(pane, "dialog")
    assert not pleas.is_pending(pane, "server")
    now[0] = 16.0
    assert not pleas.is_pending(pane, "dialog")

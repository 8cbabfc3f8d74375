"""A permission request becomes one approval request and gets at most one answer."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.actions.pane_snapshot import AgentInteraction
from termvisor.actions.permission_requests import (
    DialogRequest,
    PendingRequests,
    PermissionBroker,
    PermissionDialog,
    ServerRequest,
    find_dialog,
)
from termvisor.agents.adapters.keyboard import KeyPress
from termvisor.errors import Conflict, Refused, StaleSnapshot, TimedOut
from termvisor.model.action.action import Actor, AnswerAgent, AnswerDialog
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName
from tests.unit.actions.scripted_screen import build_snapshot
from tests.unit.actions.scripted_session import PERMISSION_REQUEST, ScriptedSessionControl
from tests.unit.agents.adapters.codex.test_screen import ASKED, HITS

ME = Actor(kind="workflow", uid=1, pid=2, name="inbox")
PANE = PaneId(1)


class RecordingKeyboard:
    def __init__(self) -> None:
        self.picked: list[tuple[str, tuple[str, ...]]] = []

    def build_keyboard(self, _snapshot: object) -> "RecordingKeyboard":
        return self

    async def pick_choice(self, choice: str, rows: tuple[str, ...]) -> Outcome:
        self.picked.append((choice, rows))
        for _ in range(10):  # the real one verifies that the dialog has closed
            await asyncio.sleep(0)
        return Outcome(status="done", why="dialog_left")


class ScriptedGate:
    """A gate with a scripted approval that executes actions like the real one."""

    def __init__(self, answer: str = "allow"):
        self.answer, self.pending, self.keyboard = answer, PendingRequests(lambda: 0.0), RecordingKeyboard()
        self.broker = PermissionBroker(gate=self, approvals=self, pending=self.pending, commander=self.keyboard)
        self.actions: list[object] = []
        self.handled_ids: set[str] = set()
        self.is_asked = asyncio.Event()

    async def forward(self, session: ScriptedSessionControl, agent: str = "codex") -> str:
        return await self.broker.forward_server_request(
            session, agent=agent, pane=PANE, actor=ME, handled_ids=self.handled_ids
        )

    async def run(self, action: object, actor: Actor, preconditions: object) -> Outcome:
        self.actions.append(action)
        if not isinstance(action, AnswerAgent):
            return Outcome(status="done")
        self.is_asked.set()
        if self.answer == "nothing":
            await asyncio.Event().wait()
        if self.answer in ("denied", "expired"):
            raise Refused("no", details={"why": self.answer, "correlation": "c"})
        self.outcome = await self.pending.find_allow_callback(action.request)(build_snapshot(()))
        return self.outcome


async def test_an_approval_answers_the_server_request_and_ends_the_wait():
    gate, session = ScriptedGate(), ScriptedSessionControl(PERMISSION_REQUEST)
    assert await gate.forward(session) == "answered"
    assert (session.received, session.is_held) == (["allow"], False)
    (action,) = gate.actions
    assert (action.agent, action.tool, action.command, action.cwd) == ("codex", "shell", "touch made", "/src")
    assert "to see" in action.given
    assert (action.session, action.request.startswith("3:i:")) == (session.session, True)
    assert gate.pending.find_allow_callback(action.request) is None


async def test_a_denial_answers_the_server_request():
    gate, session = ScriptedGate("denied"), ScriptedSessionControl(PERMISSION_REQUEST)
    assert await gate.forward(session) == "answered"
    assert session.received == ["deny"]


async def test_an_expired_approval_gives_no_answer():
    gate, session = ScriptedGate("expired"), ScriptedSessionControl(PERMISSION_REQUEST)
    assert await gate.forward(session) == "answered"
    assert session.received == []


async def test_an_unconfirmed_approval_is_unknown_and_not_repeated():
    gate, session = ScriptedGate(), ScriptedSessionControl(PERMISSION_REQUEST)
    session.is_silent = True
    assert await gate.forward(session, "opencode") == "answered"
    assert (gate.outcome.status, gate.outcome.why, session.received) == ("unknown", "not_confirmed", ["allow"])


@pytest.mark.parametrize(("is_lost", "end"), [(False, "elsewhere"), (True, "lost")])
async def test_an_answer_elsewhere_or_a_lost_connection_withdraws_the_request(is_lost, end):
    gate, session = ScriptedGate("nothing"), ScriptedSessionControl(PERMISSION_REQUEST)
    task = asyncio.ensure_future(gate.forward(session))
    await gate.is_asked.wait()
    assert gate.pending.is_pending(PANE, "hook")
    session.is_lost = is_lost
    session.resolved.set()
    assert await task == end
    assert session.received == []
    assert not gate.pending.is_pending(PANE, "hook")


async def test_a_handled_request_is_not_forwarded_again_but_the_next_one_is():
    gate, session = ScriptedGate("expired"), ScriptedSessionControl(PERMISSION_REQUEST)
    assert await gate.forward(session, "opencode") == "answered"
    with pytest.raises(TimedOut):
        await gate.forward(session, "opencode")
    session.waiting = replace(PERMISSION_REQUEST, id="4:i")
    assert await gate.forward(session, "opencode") == "answered"
    assert (len(gate.actions), gate.handled_ids) == (2, {"3:i", "4:i"})


async def test_without_a_waiting_request_nothing_is_forwarded():
    session, gate = ScriptedSessionControl(), ScriptedGate()
    with pytest.raises(TimedOut):
        await gate.forward(session)
    assert (gate.actions, session.is_held) == ([], False)


def test_a_request_is_forwarded_by_one_route_only():
    pending = PendingRequests(lambda: 0.0)
    with pending.track_request(PANE, "hook"), pending.track_request(PANE, "hook"):
        with pytest.raises(Conflict), pending.track_request(PANE, "server"):
            raise AssertionError("two routes")
        with pending.track_request(PaneId(2), "server"), pending.track_request(None, "server"):
            assert pending.is_pending(PANE, "dialog")
    assert not pending.is_pending(PANE, "server")


DIALOG = PermissionDialog(pane=PANE, agent="copilot", rows=("│ touch made │", "│ ❯ 1. Yes │"), command="touch made")


async def never() -> None:
    await asyncio.Event().wait()


async def test_an_approval_presses_the_keys_of_the_dialog():
    gate = ScriptedGate()
    assert await gate.broker.forward_dialog(DIALOG, ME, never) == "answered"
    assert gate.keyboard.picked == [("allow", DIALOG.rows)]


async def test_an_agent_that_goes_on_after_the_approval_does_not_interrupt_its_verification():
    gate = ScriptedGate()

    async def wait_for_the_key() -> None:
        while not gate.keyboard.picked:
            await asyncio.sleep(0)

    assert await gate.broker.forward_dialog(DIALOG, ME, wait_for_the_key) == "answered"
    assert (gate.outcome.status, gate.outcome.why) == ("done", "dialog_left")


async def test_a_denial_of_a_dialog_goes_through_the_gate():
    gate = ScriptedGate("denied")
    await gate.broker.forward_dialog(DIALOG, ME, never)
    refusal = gate.actions[-1]
    assert isinstance(refusal, AnswerDialog)
    assert (refusal.choice, refusal.rows, gate.keyboard.picked) == ("deny", DIALOG.rows, [])


def test_a_command_that_the_dialog_does_not_show_is_left_out():
    assert DIALOG.build_action().command == "touch made"
    action = replace(DIALOG, command="rm -rf build").build_action()
    assert (action.command, "touch made" in action.given) == ("", True)


def test_a_dialog_whose_hook_was_just_answered_is_still_pending():
    now = [10.0]
    pending, pane = PendingRequests(lambda: now[0]), PaneId(1)
    with pending.track_request(pane, "hook"):
        assert pending.is_pending(pane, "dialog")
    assert pending.is_pending(pane, "dialog")
    assert not pending.is_pending(pane, "server")
    now[0] = 16.0
    assert not pending.is_pending(pane, "dialog")


CODEX = AgentProcess(
    id=RuntimeId(1), pane=PANE, place=PaneLocation(TargetName("local"), "", MuxPaneId("%1")), agent="codex", pid=1000,
    pid_started=9, cwd="/src", started_at=0,
)  # fmt: skip


def test_a_dialog_is_found_only_if_its_agent_can_be_allowed_and_denied():
    shown = build_snapshot(ASKED)
    rows = shown.interaction.find_choice_keys(shown.screen, "allow").rows
    expected = PermissionDialog(pane=PANE, agent="codex", rows=rows, command="touch x", cwd="/src")
    assert find_dialog(shown, CODEX, "touch x") == expected
    without_denial = [row for row in ASKED if "3. No" not in row]
    for other in (
        build_snapshot(HITS["working"]),
        build_snapshot(without_denial),
        replace(shown, agent=None),
        replace(shown, agent=replace(shown.agent, runtime=RuntimeId(2))),
        replace(shown, agent=replace(shown.agent, name="generic")),
    ):
        assert find_dialog(other, CODEX, "touch x") is None


@pytest.mark.parametrize(
    ("allow", "deny"),
    [(None, ("a",)), (("a",), None), (("a",), ("b",)), ((), ())],
    ids=["no key allows", "no key denies", "two dialogs", "no rows"],
)
def test_a_dialog_whose_keys_are_uncertain_is_not_found(monkeypatch, allow, deny):
    keys = {
        name: None if rows is None else KeyPress(keys=("x",), rows=rows, rule="r")
        for name, rows in (("allow", allow), ("deny", deny))
    }
    monkeypatch.setattr(AgentInteraction, "find_choice_keys", lambda _self, _screen, choice: keys[choice])
    assert find_dialog(build_snapshot(ASKED), CODEX, "") is None


def test_a_dialog_becomes_an_action_that_shows_it():
    rows = ("│ Run it? │", "┃ touch x ┃")
    dialog = PermissionDialog(pane=PANE, agent="codex", rows=rows, command="touch x", session="s", cwd="/src")
    action = dialog.build_action()
    assert action == AnswerAgent(
        agent="codex", tool="dialog", command="touch x", given='{"dialog":"Run it?\\ntouch x"}', cwd="/src",
        session="s", pane=PANE, request=action.request,
    )  # fmt: skip
    assert dialog.build_action().request != action.request


async def test_a_hook_gets_the_decision_on_its_request():
    gate = ScriptedGate()
    request = AnswerAgent(agent="claude_code", tool="Bash", command="make", request="r", pane=PANE)
    with gate.pending.register_callback("r", lambda _snapshot: asyncio.sleep(0, Outcome(status="done", pane=PANE))):
        outcome = await gate.broker.answer_hook(request, ME, Preconditions())
    assert (outcome.status, outcome.why, outcome.pane) == ("done", "allow", PANE)
    assert '"allow"' in outcome.text
    assert gate.pending.is_pending(PANE, "dialog") and not gate.pending.is_pending(PANE, "server")


async def test_an_approval_of_a_request_that_is_gone_answers_nothing():
    session = ScriptedSessionControl(PERMISSION_REQUEST)
    session.resolved.set()
    with pytest.raises(StaleSnapshot) as refused:
        await ServerRequest(session, PERMISSION_REQUEST, "codex", PANE).allow(None)
    assert (refused.value.details["why"], session.received) == ("request_gone", [])


async def test_a_denied_hook_request_is_answered_with_the_whole_outcome():
    gate = ScriptedGate("denied")
    request = AnswerAgent(agent="claude_code", tool="Bash", command="make", request="r", pane=PANE)
    outcome = await gate.broker.answer_hook(request, ME, Preconditions())
    expected = Outcome(status="done", why="deny", text=outcome.text, correlation="c", pane=PANE)
    assert outcome == expected
    assert "Termvisor: no" in outcome.text


async def test_the_dialog_of_a_closed_pane_is_not_allowed():
    gate = ScriptedGate()
    dialog = PermissionDialog(pane=PANE, agent="codex", rows=("a",))
    request = DialogRequest(
        dialog, commander=gate.keyboard, gate=gate, actor=ME, wait_until_resolved=asyncio.Event().wait
    )
    with pytest.raises(StaleSnapshot, match="pane 1 no longer exists") as refused:
        await request.allow(None)
    assert (refused.value.details["why"], gate.keyboard.picked) == ("pane_gone", [])


async def test_an_allowed_request_of_a_server_has_a_whole_outcome():
    session = ScriptedSessionControl(PERMISSION_REQUEST)
    request = ServerRequest(session, PERMISSION_REQUEST, "codex", PANE)
    expected = Outcome(status="done", why="answered", pane=PANE, channel="native")
    assert await request.allow(None) == expected
    session = ScriptedSessionControl(PERMISSION_REQUEST)
    session.is_silent = True
    unknown = await ServerRequest(session, PERMISSION_REQUEST, "codex", PANE).allow(None)
    assert unknown == replace(expected, status="unknown", why="not_confirmed")
    with pytest.raises(StaleSnapshot) as refused:
        await ServerRequest(ScriptedSessionControl(), PERMISSION_REQUEST, "codex", PANE).allow(None)
    assert refused.value.details["why"] == "request_gone"

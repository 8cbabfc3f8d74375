"""A waiting agent's request is forwarded by the best route, once, and only while the agent waits."""

import asyncio
import itertools
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace

import pytest

from termvisor.actions.permission_requests import PendingRequests, PermissionBroker
from termvisor.bus import Bus
from termvisor.daemon.acting.permission_request_watcher import PermissionRequestWatcher
from termvisor.model.action.action import AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.state import AgentState, StateChange, StateProjection
from termvisor.settings import Settings
from termvisor.testing.fake_clock import NOON
from tests.unit.actions.scripted_screen import HastyClock, build_snapshot
from tests.unit.actions.scripted_session import PERMISSION_REQUEST, ScriptedSessionControl
from tests.unit.agents.adapters.codex.test_screen import ASKED
from tests.unit.agents.tracking.tracker_scene import build_agent_started
from tests.unit.wait_until import wait_until

RUNTIME = build_agent_started(NOON, 1, agent="codex").runtime


class Clock(HastyClock):
    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0)


class ScriptedTracker:
    def __init__(self) -> None:
        self.state_changes: Bus[StateChange] = Bus()
        self.agents_by_pane = {RUNTIME.pane: RUNTIME}
        self.version = 0
        self.set_state("idle")

    def set_state(self, value: str) -> None:
        self.version += 1
        self.state = AgentState(runtime=RUNTIME.id, pane=RUNTIME.pane, agent="codex", value=value)
        self.state_changes.publish(StateChange(at=NOON, version=self.version, before=None, after=self.state))

    def find_agent_in_pane(self, pane: int) -> object:
        return self.agents_by_pane.get(pane)

    def get_projection(self, _runtime: int) -> StateProjection:
        return StateProjection(version=self.version, state=self.state)


class ScriptedGate:
    """A gate that approves at once; also the panes and the keyboard that the broker uses."""

    def __init__(self, tracker: ScriptedTracker):
        self.pending, self.panes, self.tracker = PendingRequests(itertools.count(0.0, 10.0).__next__), self, tracker
        self.permission_broker = PermissionBroker(gate=self, approvals=self, pending=self.pending, commander=self)
        self.requests: list[AnswerAgent] = []
        self.has_unclaimed = False

    async def run(self, action: AnswerAgent, _actor: object, _preconditions: object) -> Outcome:
        self.requests.append(action)
        outcome = await self.pending.find_allow_callback(action.request)(build_snapshot(ASKED))
        self.tracker.set_state("running")
        return outcome

    def has_unclaimed_from_own_channel(self, _pane: int) -> bool:
        return self.has_unclaimed

    async def take_snapshot(self, _pane: int, _preconditions: object) -> object:
        return build_snapshot(ASKED, state="waiting_approval")

    def build_keyboard(self, _snapshot: object) -> "ScriptedGate":
        return self

    async def pick_choice(self, _choice: str, _rows: object) -> Outcome:
        return Outcome(status="done", why="dialog_left")


@asynccontextmanager
async def run_watcher(
    session: ScriptedSessionControl | None,
    *,
    connected_after_s: float = 0.0,
    has_server: bool = True,
    **settings: object,
):
    tracker, clock = ScriptedTracker(), Clock()
    gate = ScriptedGate(tracker)
    gate.clock, connected_at = clock, clock.at + connected_after_s
    servers = SimpleNamespace(
        find_session_control=lambda _agent: session if clock.at >= connected_at else None,
        has_server=lambda _agent: has_server,
    )
    components = SimpleNamespace(
        agent_tracking=SimpleNamespace(tracker=tracker, servers=servers), clock=clock, settings=Settings(**settings)
    )
    task = asyncio.ensure_future(PermissionRequestWatcher(components, lambda: gate).run())
    await asyncio.sleep(0)
    yield tracker, gate
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_the_agents_server_is_preferred():
    session = ScriptedSessionControl(PERMISSION_REQUEST)
    async with run_watcher(session) as (tracker, gate):
        tracker.set_state("waiting_approval")
        await wait_until(lambda: session.received == ["allow"])
        assert [action.tool for action in gate.requests] == ["shell"]


async def test_without_a_server_the_dialog_is_forwarded():
    async with run_watcher(None) as (tracker, gate):
        tracker.set_state("waiting_approval")
        await wait_until(lambda: gate.requests)
        assert [action.tool for action in gate.requests] == ["dialog"]
        assert "touch x" in gate.requests[0].given


@pytest.mark.parametrize(("inbox", "session"), [("native", None), ("off", ScriptedSessionControl(PERMISSION_REQUEST))])
async def test_a_route_that_the_setting_excludes_is_not_used(inbox, session):
    async with run_watcher(session, agent_inbox=inbox) as (tracker, gate):
        tracker.set_state("waiting_approval")
        for _ in range(50):
            await asyncio.sleep(0)
        assert gate.requests == []


async def test_a_request_of_a_hook_is_not_forwarded_twice():
    async with run_watcher(None) as (tracker, gate):
        with gate.pending.track_request(RUNTIME.pane, "hook"):
            tracker.set_state("waiting_approval")
            for _ in range(50):
                await asyncio.sleep(0)
            assert gate.requests == []
        await wait_until(lambda: gate.requests)


@pytest.mark.parametrize(
    ("connected_after_s", "has_unclaimed", "tool"),
    [(5.0, False, "shell"), (30.0, True, "shell"), (30.0, False, "dialog"), (3600.0, True, "dialog")],
    ids=["soon", "late with a request to claim", "late without one", "never"],
)
async def test_the_dialog_waits_for_a_server_that_is_about_to_connect(connected_after_s, has_unclaimed, tool):
    session = ScriptedSessionControl(PERMISSION_REQUEST)
    async with run_watcher(session, connected_after_s=connected_after_s) as (tracker, gate):
        gate.has_unclaimed = has_unclaimed
        tracker.set_state("waiting_approval")
        await wait_until(lambda: gate.requests)
        assert [action.tool for action in gate.requests] == [tool]


async def test_the_dialog_of_an_agent_without_a_server_does_not_wait():
    async with run_watcher(None, has_server=False) as (tracker, gate):
        gate.has_unclaimed, began = True, gate.clock.at
        tracker.set_state("waiting_approval")
        await wait_until(lambda: gate.requests)
        assert gate.clock.at - began < 3

"""An agent that waits is heard by the best way there is, once, and only while it waits."""

import asyncio
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace

import pytest

from termvisor.actions.permission_requests import PendingPermissionRequests
from termvisor.bus import Bus
from termvisor.daemon.acting.permission_request_watcher import PermissionRequestWatcher
from termvisor.model.action.action import AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.state import AgentState, StateChange, StateProjection
from termvisor.settings import Settings
from termvisor.testing.fake_services import NOON
from tests.unit.actions.scripted_screen import HastyClock, build_snapshot
from tests.unit.actions.scripted_session import PERMISSION_REQUEST, ScriptedSessionControl
from tests.unit.agents.adapters.codex.test_screen_rules import ASKED
from tests.unit.agents.tracking.tracker_scene import build_agent_started
from tests.unit.wait_until import wait_until

RUNTIME = build_agent_started(NOON, 1, agent="codex").runtime


class Clock(HastyClock):
    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await asyncio.sleep(0)


class Knowing:
    def __init__(self) -> None:
        self.news: Bus[StateChange] = Bus()
        self.living = {RUNTIME.pane: RUNTIME}
        self.version = 0
        self.become("idle", is_told=False)

    def become(self, value: str, *, is_told: bool = True) -> None:
        self.version += 1
        self.state = AgentState(runtime=RUNTIME.id, pane=RUNTIME.pane, agent="codex", value=value)
        if is_told:
            self.news.publish(StateChange(at=NOON, version=self.version, before=None, after=self.state))

    def runtime_in(self, pane: int) -> object:
        return self.living.get(pane)

    def projection(self, _runtime: int) -> StateProjection:
        return StateProjection(version=self.version, state=self.state)


class Behind:
    """A gate that lets a test answer."""

    def __init__(self, knowing: Knowing):
        self.gate, self.panes, self.speaker, self.pleas = self, self, self, PendingPermissionRequests()
        self.knowing = knowing
        self.asked: list[AnswerAgent] = []

    async def run(self, action: AnswerAgent, _actor: object, _terms: object) -> Outcome:
        self.asked.append(action)
        outcome = await self.pleas.find_allow_callback(action.request)(build_snapshot(ASKED))
        self.knowing.become("running")
        return outcome

    async def take_snapshot(self, _pane: int, _terms: object) -> object:
        return build_snapshot(ASKED, state="waiting_approval")

    def build_keyboard(self, _belief: object) -> "Behind":
        return self

    async def pick_choice(self, _choice: str, _rows: object) -> Outcome:
        return Outcome(status="done", why="dialog_left")


@asynccontextmanager
async def pleading(line: ScriptedSessionControl | None, **settings: object):
    knowing = Knowing()
    behind = Behind(knowing)
    servers = SimpleNamespace(find_session_control=lambda _runtime: line, has_server=lambda _runtime: True)
    parts = SimpleNamespace(
        agent_tracking=SimpleNamespace(tracker=knowing, servers=servers), clock=Clock(), settings=Settings(**settings)
    )
    task = asyncio.ensure_future(PermissionRequestWatcher(parts, lambda: behind).run())
    await asyncio.sleep(0)
    yield knowing, behind
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_its_server_is_the_best_way():
    line = ScriptedSessionControl(PERMISSION_REQUEST)
    async with pleading(line) as (knowing, behind):
        knowing.become("waiting_approval")
        await wait_until(lambda: line.said == ["allow"])
        assert [one.tool for one in behind.asked] == ["shell"]


async def test_without_a_server_its_dialog_is_brought():
    async with pleading(None) as (knowing, behind):
        knowing.become("waiting_approval")
        await wait_until(lambda: behind.asked)
        assert [one.tool for one in behind.asked] == ["dialog"]
        assert "touch x" in behind.asked[0].given


@pytest.mark.parametrize(("inbox", "line"), [("native", None), ("off", ScriptedSessionControl(PERMISSION_REQUEST))])
async def test_what_the_setting_leaves_out_is_not_brought(inbox, line):
    async with pleading(line, agent_inbox=inbox) as (knowing, behind):
        knowing.become("waiting_approval")
        for _ in range(50):
            await asyncio.sleep(0)
        assert behind.asked == []


async def test_what_a_hook_brings_is_not_brought_twice():
    async with pleading(None) as (knowing, behind):
        with behind.pleas.track_request(RUNTIME.pane, "hook"):
            knowing.become("waiting_approval")
            for _ in range(50):
                await asyncio.sleep(0)
            assert behind.asked == []
        await wait_until(lambda: behind.asked)

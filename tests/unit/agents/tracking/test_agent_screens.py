"""Screens of agents are sampled at the right rate and become signals."""

import pytest

from termvisor.agents.adapters.adapter import ScreenReading
from termvisor.agents.tracking import agent_screens
from termvisor.agents.tracking.agent_screens import AgentScreenReader, ClassifiedScreen
from termvisor.agents.tracking.remote_agents import RemoteAgentDetector
from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import AgentSchedule, PaintActivity, ScreenSampler
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId, PaneId, RuntimeId
from termvisor.model.terminal.screen import ScreenLifetime
from tests.unit.agents.tracking.tracker_scene import (
    build_agent_started,
    build_pane_info,
    build_registry,
    build_signal,
)

KEY = "sk-ant-api03-" + "aB3dE6gH9" * 10
PANE = PaneId(1)
REPAINT = PaintActivity(PANE, EpochId(1), ScreenLifetime(PANE, EpochId(1), False, 0), is_update_complete=True)


class FakeServer:
    """Shows these rows on every pane, and counts the requests."""

    def __init__(self, *rows: str):
        self.rows, self.requests, self.is_down = rows, 0, False

    async def capture_screens(self, panes):
        self.requests += 1
        if self.is_down:
            raise MuxError("no answer")
        return [PaneCapture(rows=self.rows, width=80, height=24) for _ in panes]


class SamplingScene:
    """The sampler of one pane, with the reader of its agent."""

    def __init__(self, tracker_scene, *rows: str):
        self.scene, self.server, self.stored = tracker_scene, FakeServer(*rows), 0
        tracker, clock, registry = tracker_scene.tracker, tracker_scene.clock, build_registry()
        self.reader = AgentScreenReader(tracker, registry, RemoteAgentDetector(tracker, registry, clock))
        self.reader.get_moved_at = lambda pane: tracker_scene.now()
        self.sampler = ScreenSampler(clock, lambda pane: (self.server, MuxPaneId("%1")), self.store)
        self.sampler.agent_screens = self.reader

    async def store(self, samples) -> None:
        self.stored += len(samples)

    async def sample(self) -> None:
        for batch in self.sampler.collect_due_panes():
            await self.sampler.sample_panes(batch)

    async def count_requests(self, seconds: float) -> int:
        before = self.server.requests
        for _ in range(int(seconds * 2)):
            await self.scene.clock.advance(0.5)
            await self.sample()
        return self.server.requests - before

    @property
    def last_screen(self) -> ClassifiedScreen:
        (screen,) = self.reader._last_screens.values()
        return screen


async def test_panes_without_agents_are_not_sampled(tracker_scene):
    assert await SamplingScene(tracker_scene, "toy working").count_requests(10) == 0


async def test_a_quiet_pane_is_sampled_less_often(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    sampling = SamplingScene(tracker_scene, "toy working")
    assert 8 <= await sampling.count_requests(10) <= 11
    still = tracker_scene.now()
    sampling.reader.get_moved_at = lambda pane: still
    assert 7 <= await sampling.count_requests(16) <= 9
    await sampling.count_requests(120)
    assert await sampling.count_requests(120) == 4


async def test_a_sample_becomes_a_redacted_state(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    sampling = SamplingScene(tracker_scene, f"key {KEY}", "toy blocked")
    await sampling.sample()
    await tracker_scene.tracker.wait_stored()
    assert (tracker_scene.states[0].value, tracker_scene.states[0].source) == ("waiting_approval", "screen")
    assert KEY[:30] not in str(sampling.last_screen.rows)
    assert sampling.stored == 0


async def test_the_cursor_is_in_its_row_although_the_capture_joins_wrapped_rows(tracker_scene):
    sampling = SamplingScene(tracker_scene)
    capture = PaneCapture(rows=("x" * 200, "> "), width=80, height=24, cursor_x=2, cursor_y=3)
    screen = sampling.reader._build_screen(PaneId(1), capture, tracker_scene.now())
    assert (screen.cursor_y, screen.cursor_x) == (1, 2)


async def test_a_screen_is_stored_if_it_is_news(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader = SamplingScene(tracker_scene).reader
    for rows in (("toy working",), ("toy working",), ("3 s", "toy working")):
        reader.read_screen(PANE, PaneCapture(rows=rows), tracker_scene.now(), 2.0)
    await tracker_scene.tracker.wait_stored()
    assert (tracker_scene.states[0].value, tracker_scene.states[0].source) == ("running", "screen")
    assert len(await tracker_scene.store.agent_facts.list_after(0)) == 2
    await tracker_scene.clock.advance(1)
    reader.read_screen(PANE, PaneCapture(rows=("toy blocked",)), tracker_scene.now(), 2.0)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.states[0].value == "waiting_approval"


async def test_an_unrecognized_screen_of_an_unseen_version_has_its_own_reason(tracker_scene, monkeypatch):
    monkeypatch.setattr(agent_screens, "list_recorded_versions", lambda agent: ("1.0", "2.0"))
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader = SamplingScene(tracker_scene).reader

    async def read_reason(version: str, *rows: str) -> str | None:
        await tracker_scene.submit(build_signal(tracker_scene.now(), None, payload={"version": version}))
        await tracker_scene.clock.advance(6)
        reader.read_screen(PANE, PaneCapture(rows=rows), tracker_scene.now(), 2.0)
        await tracker_scene.tracker.wait_stored()
        facts = await tracker_scene.store.agent_facts.list_after(0)
        return facts[-1][1].reason

    assert await read_reason("", "what is this") == "unknown_screen"
    assert await read_reason("1.5", "what is this") == "unknown_screen", "older and newer ones were recorded"
    assert await read_reason("2.1", "what is this") == "unseen_version"
    assert tracker_scene.states[0].reason == "unseen_version"
    assert await read_reason("2.1", "toy working") is None
    assert await read_reason("2.1", "and this") == "unseen_version"
    counts = reader.get_screen_counts(RuntimeId(1))
    assert (counts.seen, counts.strange) == (3, 2), "a screen that stands still counts once"


async def test_the_version_in_the_banner_counts_if_nothing_else_shows_it(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader = SamplingScene(tracker_scene).reader
    reader.find_banner_version = lambda agent, rows: rows[0].partition(f"{agent} v")[2]

    async def read_version(*rows: str) -> str:
        await tracker_scene.clock.advance(1)
        reader.read_screen(PANE, PaneCapture(rows=rows), tracker_scene.now(), 2.0)
        await tracker_scene.tracker.wait_stored()
        return tracker_scene.tracker.get_version(RuntimeId(1))

    assert await read_version("hello", "toy working") == ""
    assert await read_version("toy vNext", "toy working") == ""
    assert await read_version("toy v1.2.0", "toy working") == "1.2.0"
    assert await read_version("toy v1.3.0", "toy working") == "1.2.0"


async def test_a_version_found_late_is_applied_to_a_screen_that_stands_still(tracker_scene, monkeypatch):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    reader, versions = SamplingScene(tracker_scene).reader, []
    monkeypatch.setattr(
        reader._registry, "classify_screen", lambda agent, screen, version: versions.append(version) or ScreenReading()
    )
    for version in ("", "", "2.1", "2.1"):
        await tracker_scene.submit(build_signal(tracker_scene.now(), None, payload={"version": version}))
        await tracker_scene.clock.advance(1)
        reader.read_screen(PANE, PaneCapture(rows=("still",)), tracker_scene.now(), 2.0)
    assert versions == ["", "2.1"]


async def test_a_screen_without_an_agent_is_ignored(tracker_scene):
    reader = SamplingScene(tracker_scene).reader
    for interval in (2.0, None):
        reader.read_screen(PANE, PaneCapture(rows=("toy working",)), tracker_scene.now(), interval)
    assert await tracker_scene.store.agent_facts.list_after(0) == []


async def test_a_failed_capture_is_retried_later(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    sampling = SamplingScene(tracker_scene, "toy working")
    sampling.server.is_down = True
    assert await sampling.count_requests(4) > 1
    assert tracker_scene.states[0].value == "unknown"


async def test_a_pane_that_repaints_and_has_an_agent_is_captured_once(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    sampling = SamplingScene(tracker_scene, "toy asking")
    sampling.sampler.note_activity(REPAINT)
    await sampling.sample()
    await tracker_scene.tracker.wait_stored()
    assert (sampling.server.requests, sampling.stored, tracker_scene.states[0].value) == (1, 1, "waiting_input")


async def test_samples_of_repaints_are_reused_for_the_agent(tracker_scene):
    await tracker_scene.submit(build_agent_started(tracker_scene.now()))
    sampling = SamplingScene(tracker_scene, "toy working")
    await sampling.sample()
    sampling.server.rows = ("toy asking",)
    for _ in range(10):
        await tracker_scene.clock.advance(0.5)
        sampling.sampler.note_activity(REPAINT)
        await sampling.sample()
    await tracker_scene.tracker.wait_stored()
    assert (sampling.server.requests, sampling.stored) == (11, 10)
    assert tracker_scene.states[0].value == "waiting_input"


async def test_a_sample_of_a_repaint_finds_an_agent_behind_ssh(tracker_scene):
    sampling = SamplingScene(tracker_scene, "toy working")
    sampling.reader.get_pane_info = lambda pane: build_pane_info(pane, "ssh")
    for _ in range(2):
        sampling.sampler.note_activity(REPAINT)
        await sampling.sample()
        await tracker_scene.clock.advance(3)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PANE).agent == "toy"


def show_behind_ssh(sampling: SamplingScene) -> None:
    sampling.reader.get_pane_info = lambda pane: build_pane_info(pane, "ssh")
    sampling.reader.list_carrier_panes = lambda: [build_pane_info(PANE, "ssh")]


@pytest.mark.parametrize("paints", [0, 1])
async def test_a_still_dialog_behind_ssh_is_found_by_two_samples(tracker_scene, paints):
    sampling = SamplingScene(tracker_scene, "toy blocked")
    show_behind_ssh(sampling)
    for _ in range(paints):
        sampling.sampler.note_activity(REPAINT)
    assert await sampling.count_requests(3) == 2
    await tracker_scene.tracker.wait_stored()
    await sampling.count_requests(3)
    await tracker_scene.tracker.wait_stored()
    assert (tracker_scene.states[0].agent, tracker_scene.states[0].value) == ("toy", "waiting_approval")


async def test_a_dialog_drawn_right_after_another_screen_behind_ssh_is_found(tracker_scene):
    sampling = SamplingScene(tracker_scene, "$ toy")
    show_behind_ssh(sampling)
    await sampling.count_requests(0.5)
    sampling.server.rows = ("toy blocked",)
    sampling.sampler.note_activity(REPAINT)
    await sampling.count_requests(8)
    await tracker_scene.tracker.wait_stored()
    assert tracker_scene.tracker.find_agent_in_pane(PANE).agent == "toy"


async def test_a_still_screen_without_an_agent_behind_ssh_is_sampled_once(tracker_scene):
    sampling = SamplingScene(tracker_scene, "$ make")
    show_behind_ssh(sampling)
    assert await sampling.count_requests(60) == 1


def test_a_burst_is_sampled_when_settled():
    schedule = AgentSchedule(due_at=100.0, sampled_at=10.0)
    schedule.record_output(5, 20.0)
    assert schedule.due_at == 20.5
    schedule.record_sample(20.5)
    schedule.record_output(6, 20.6)
    assert schedule.due_at == 21.5


async def test_the_agent_on_a_screen_is_known_by_its_screen_or_without_a_process(tracker_scene):
    scene = SamplingScene(tracker_scene)
    local, remote = (build_agent_started(tracker_scene.now(), pid=pid).runtime for pid in (101, 0))
    assert [scene.reader.get_agent_on_screen(one) for one in (local, remote)] == ["", "toy"]
    for rule, state, agent in (("r", "running", "toy"), ("", "running", ""), ("r", "unknown", "")):
        reading = ScreenReading(state=state, rule=rule)
        scene.reader._last_screens[local.id] = ClassifiedScreen(rows=(), reading=reading, at=1, stored_at=1)
        assert scene.reader.get_agent_on_screen(local) == agent

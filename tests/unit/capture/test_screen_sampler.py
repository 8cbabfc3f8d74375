"""Sample panes that repaint, batched by server."""

import asyncio
from collections.abc import Sequence

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import (
    MIN_SAMPLE_INTERVAL_S,
    AgentSchedule,
    PaintActivity,
    ScreenSample,
    ScreenSampler,
)
from termvisor.clock import NS
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.screen import ScreenLifetime
from tests.unit.capture.capture_harness import AdvancedClock
from tests.unit.wait_until import wait_until


class FakeScreenSource:
    """A server that shows the name of each of its panes; it may be slow, or lose panes."""

    def __init__(self) -> None:
        self.requests: list[list[MuxPaneId]] = []
        self.is_alternate = True
        self.gone: set[str] = set()
        self.fails = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        self.requests.append(list(panes))
        await self.gate.wait()
        if self.fails:
            raise MuxError("the client ended")
        return [None if pane in self.gone else PaneCapture(rows=(pane,), alternate=self.is_alternate) for pane in panes]


class Scene:
    def __init__(self) -> None:
        self.clock, self.server, self.samples = AdvancedClock(), FakeScreenSource(), list[ScreenSample]()
        self.is_there = True
        self.sampler = ScreenSampler(self.clock, self.find_pane, self.store_samples)

    def find_pane(self, pane: PaneId) -> tuple[FakeScreenSource, MuxPaneId] | None:
        return (self.server, MuxPaneId(f"%{pane}")) if self.is_there else None

    async def store_samples(self, samples: list[ScreenSample]) -> None:
        self.samples += samples

    def paint(self, *panes: int, **flags) -> None:
        for pane in panes:
            self.sampler.note_activity(PaintActivity(PaneId(pane), EpochId(1), build_lifetime(pane), **flags))

    def leave(self, pane: int, epoch: int = 1) -> None:
        self.sampler.note_activity(PaintActivity(PaneId(pane), EpochId(epoch)))

    async def advance_half_second(self) -> None:
        """Advance the clock by half a second."""
        self.clock.advance_s += MIN_SAMPLE_INTERVAL_S
        await asyncio.sleep(0)

    @property
    def sampled_texts(self) -> list[str]:
        return [sample.capture.rows[0] for sample in self.samples]


def build_lifetime(pane: int) -> ScreenLifetime:
    return ScreenLifetime(PaneId(pane), EpochId(1), True, 5)


@pytest.fixture
async def scene():
    made = Scene()
    running = asyncio.ensure_future(made.sampler.run())
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_repainted_pane_is_sampled_with_its_lifetime_and_time(scene):
    before = scene.clock.now()
    scene.paint(7)
    await wait_until(lambda: scene.samples)
    (sample,) = scene.samples
    assert (sample.lifetime, sample.capture.rows) == (build_lifetime(7), ("%7",))
    assert before <= sample.captured_at <= scene.clock.now()


async def test_panes_that_are_due_together_are_captured_in_one_request(scene):
    scene.paint(1, 2, 3, is_update_complete=True)
    await wait_until(lambda: len(scene.samples) == 3)
    assert scene.server.requests == [["%1", "%2", "%3"]]


async def test_a_pane_that_no_longer_repaints_is_not_sampled(scene):
    scene.paint(1)
    scene.leave(1)
    scene.paint(2)
    await wait_until(lambda: scene.samples)
    assert scene.sampled_texts == ["%2"]


async def test_the_end_of_an_older_epoch_does_not_stop_sampling_a_newer_one(scene):
    scene.paint(1)
    scene.leave(1, epoch=9)
    await wait_until(lambda: scene.sampled_texts == ["%1"])


async def test_a_sample_of_the_other_screen_is_discarded(scene):
    scene.server.is_alternate = False
    scene.paint(1, is_update_complete=True)
    await wait_until(lambda: scene.server.requests)
    scene.server.is_alternate = True
    scene.paint(2, is_update_complete=True)
    await wait_until(lambda: scene.samples)
    assert scene.sampled_texts == ["%2"]


@pytest.mark.parametrize("failure", ["gone", "failure", "nowhere"])
async def test_a_sample_that_is_not_possible_yet_is_retried(scene, failure):
    scene.server.gone = {"%1"} if failure == "gone" else set()
    scene.server.fails = failure == "failure"
    scene.is_there = failure != "nowhere"
    scene.paint(1, is_update_complete=True)
    await wait_until(lambda: scene.server.requests or failure == "nowhere")
    assert scene.samples == []
    scene.server.gone, scene.server.fails, scene.is_there = set(), False, True
    await wait_until(lambda: scene.sampled_texts == ["%1"])


async def test_a_server_that_does_not_answer_gets_no_second_request(scene):
    scene.server.gate.clear()
    scene.paint(1, is_update_complete=True)
    await wait_until(lambda: scene.server.requests)
    for _ in range(3):
        await scene.advance_half_second()
        scene.paint(1, is_update_complete=True)
        await asyncio.sleep(0.02)
    assert scene.server.requests == [["%1"]]
    scene.server.gate.set()
    await scene.advance_half_second()
    scene.paint(1, is_update_complete=True)
    await wait_until(lambda: len(scene.samples) >= 2)


async def test_samples_are_counted(scene):
    scene.paint(1, 2, is_update_complete=True)
    await wait_until(lambda: len(scene.samples) == 2)
    assert scene.sampler.meter.total == 2
    assert scene.sampler.meter.compute_rate(scene.clock.monotonic()) > 0


class StoppedClock(AdvancedClock):
    """A clock that only a test advances."""

    def monotonic(self) -> float:
        return 100.0 + self.advance_s

    def now(self) -> int:
        return int(self.monotonic() * NS)


class AgentPanes:
    """The panes of agents with their last output, and the screens that were read."""

    def __init__(self) -> None:
        self.panes: dict[PaneId, int | None] = {}
        self.screens: list[tuple[int, tuple[str, ...], float, float | None]] = []

    def update_panes(self) -> dict[PaneId, int | None]:
        return dict(self.panes)

    def read_screen(self, pane: PaneId, capture: PaneCapture, at: int, interval_s: float | None) -> None:
        self.screens.append((pane, capture.rows, at / NS, interval_s))


class AgentScene(Scene):
    """A sampler that a test drives step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = StoppedClock()
        self.sampler = ScreenSampler(self.clock, self.find_pane, self.store_samples)
        self.agents = self.sampler.agent_screens = AgentPanes()

    async def sample_at(self, seconds: float) -> list[float | None]:
        """Sample what is due at this time; return the intervals with which screens of agents were read."""
        self.clock.advance_s, count = seconds, len(self.agents.screens)
        for batch in self.sampler.collect_due_panes():
            await self.sampler.sample_panes(batch)
        return [interval for *_, interval in self.agents.screens[count:]]


async def test_the_screen_of_an_agent_is_read_less_and_less_often_while_it_is_quiet():
    scene = AgentScene()
    scene.agents.panes = {PaneId(1): 5}
    times = [seconds / 2 for seconds in range(240) if await scene.sample_at(seconds / 2)]
    assert times == [0, 2, 4, 6, 8, 10, 12, 14, 16, 20, 28, 44, 74, 104]
    assert scene.agents.screens[0] == (1, ("%1",), 100.0, 2.0)
    assert [interval for *_, interval in scene.agents.screens][-6:] == [4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    scene.agents.panes = {PaneId(1): 6}
    assert [await scene.sample_at(seconds) for seconds in (120, 120.5, 121, 122.5)] == [[], [2.0], [], [2.0]]


async def test_an_agent_is_checked_twice_a_second_and_forgotten_when_it_is_gone():
    scene = AgentScene()
    scene.agents.panes = {PaneId(1): 5}
    assert [await scene.sample_at(seconds) for seconds in (0, 0.4)] == [[2.0], []]
    scene.agents.panes = {PaneId(2): 5}
    assert [await scene.sample_at(seconds) for seconds in (0.4, 0.5)] == [[], [2.0]]
    assert scene.server.requests == [["%1"], ["%2"]]
    scene.agents.panes = {PaneId(1): 5}
    assert await scene.sample_at(1.0) == [2.0]


async def test_an_agent_gets_no_second_request_while_the_first_is_unanswered():
    scene = AgentScene()
    scene.agents.panes = {PaneId(1): 5}
    (batch,) = scene.sampler.collect_due_panes()
    assert await scene.sample_at(10) == []
    scene.server.fails = True
    await scene.sampler.sample_panes(batch)
    scene.server.fails = False
    assert await scene.sample_at(12) == [2.0]


async def test_a_screen_is_not_read_for_an_agent_that_exited_meanwhile():
    scene = AgentScene()
    scene.agents.panes = {PaneId(1): 5}
    (batch,) = scene.sampler.collect_due_panes()
    scene.agents.panes = {}
    await scene.sample_at(10)
    await scene.sampler.sample_panes(batch)
    assert scene.agents.screens == []


async def test_the_sample_of_a_repaint_also_serves_the_agent_of_the_pane():
    scene = AgentScene()
    scene.paint(1, 2, is_update_complete=True)
    assert await scene.sample_at(0) == [None, None]
    scene.agents.panes = {PaneId(1): 5}
    assert await scene.sample_at(1) == [2.0]
    scene.paint(1, is_update_complete=True)
    assert await scene.sample_at(2.9) == [2.0]
    assert [await scene.sample_at(seconds) for seconds in (3.4, 4.9)] == [[], [2.0]]
    assert len(scene.samples) == 3


async def test_a_pane_that_is_due_for_both_reasons_is_captured_once():
    scene = AgentScene()
    scene.agents.panes = {PaneId(1): 5}
    scene.paint(1, is_update_complete=True)
    assert (await scene.sample_at(0), scene.server.requests) == ([2.0], [["%1"]])


async def test_a_repaint_is_retried_a_few_times_only():
    scene = AgentScene()
    scene.server.gone = {"%1"}
    scene.paint(1, is_update_complete=True)
    for step in range(20):
        await scene.sample_at(step)
    assert len(scene.server.requests) == 10


async def test_without_agents_no_screen_is_read():
    scene = AgentScene()
    scene.sampler.agent_screens = None
    scene.paint(1, is_update_complete=True)
    assert (await scene.sample_at(0), len(scene.samples)) == ([], 1)


def test_output_of_an_agent_is_sampled_once_it_settled():
    schedule = AgentSchedule(due_at=50.0)
    schedule.record_output(7, 10.0)
    assert (schedule.due_at, schedule.printed_at, schedule.active_at) == (10.5, 7, 10.0)
    schedule.record_sample(10.5)
    schedule.record_output(7, 10.6)
    assert schedule.due_at == 12.5
    schedule.record_output(8, 10.7)
    assert (schedule.due_at, schedule.sampled_at) == (11.5, 10.5)

"""Sample panes that repaint, batched by server."""

import asyncio
from collections.abc import Sequence

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.screen_sampler import MIN_SAMPLE_INTERVAL_S, PaintActivity, ScreenSample, ScreenSampler
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

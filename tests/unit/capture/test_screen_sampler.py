"""Looks at panes that repaint: when they stir, in one go, and never in another way than through the server."""

import asyncio
from collections.abc import Sequence

import pytest

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.sampling_schedule import MIN_SAMPLE_INTERVAL_S, PaintActivity
from termvisor.capture.screen_sampler import ScreenSample, ScreenSampler
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.screen_row import ScreenLifetime
from tests.unit.capture.capture_harness import AdvancedClock
from tests.unit.wait_until import wait_until


class Shown:
    """A server that shows the name of each of its panes; it may be slow, or lose panes."""

    def __init__(self) -> None:
        self.asked: list[list[MuxPaneId]] = []
        self.is_alternate = True
        self.gone: set[str] = set()
        self.trouble = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        self.asked.append(list(panes))
        await self.gate.wait()
        if self.trouble:
            raise MuxError("the client ended")
        return [None if pane in self.gone else PaneCapture(rows=(pane,), alternate=self.is_alternate) for pane in panes]


class Scene:
    def __init__(self) -> None:
        self.clock, self.server, self.looks = AdvancedClock(), Shown(), list[ScreenSample]()
        self.is_there = True
        self.eyes = ScreenSampler(self.clock, self.place, self.take)

    def place(self, pane: PaneId) -> tuple[Shown, MuxPaneId] | None:
        return (self.server, MuxPaneId(f"%{pane}")) if self.is_there else None

    async def take(self, looks: list[ScreenSample]) -> None:
        self.looks += looks

    def paint(self, *panes: int, **how) -> None:
        for pane in panes:
            self.eyes.note_activity(PaintActivity(PaneId(pane), EpochId(1), life(pane), **how))

    def leave(self, pane: int, epoch: int = 1) -> None:
        self.eyes.note_activity(PaintActivity(PaneId(pane), EpochId(epoch)))

    async def later(self) -> None:
        """Half a second passes at once."""
        self.clock.advance_s += MIN_SAMPLE_INTERVAL_S
        await asyncio.sleep(0)

    @property
    def seen(self) -> list[str]:
        return [look.capture.rows[0] for look in self.looks]


def life(pane: int) -> ScreenLifetime:
    return ScreenLifetime(PaneId(pane), EpochId(1), True, 5)


@pytest.fixture
async def scene():
    made = Scene()
    running = asyncio.ensure_future(made.eyes.run())
    yield made
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_what_has_painted_is_looked_at_with_its_life_and_time(scene):
    before = scene.clock.now()
    scene.paint(7)
    await wait_until(lambda: scene.looks)
    (look,) = scene.looks
    assert (look.lifetime, look.capture.rows) == (life(7), ("%7",))
    assert before <= look.at <= scene.clock.now()


async def test_panes_that_are_due_together_are_asked_for_in_one_go(scene):
    scene.paint(1, 2, 3, is_painted=True)
    await wait_until(lambda: len(scene.looks) == 3)
    assert scene.server.asked == [["%1", "%2", "%3"]]


async def test_a_pane_that_no_longer_repaints_is_let_alone(scene):
    scene.paint(1)
    scene.leave(1)
    scene.paint(2)
    await wait_until(lambda: scene.looks)
    assert scene.seen == ["%2"]


async def test_the_end_of_an_older_epoch_does_not_stop_the_looks_at_a_newer_one(scene):
    scene.paint(1)
    scene.leave(1, epoch=9)
    await wait_until(lambda: scene.seen == ["%1"])


async def test_a_screen_that_is_another_one_by_now_is_not_taken_for_it(scene):
    scene.server.is_alternate = False
    scene.paint(1, is_painted=True)
    await wait_until(lambda: scene.server.asked)
    scene.server.is_alternate = True
    scene.paint(2, is_painted=True)
    await wait_until(lambda: scene.looks)
    assert scene.seen == ["%2"]


@pytest.mark.parametrize("trouble", ["gone", "trouble", "nowhere"])
async def test_a_look_that_is_not_possible_yet_is_taken_when_it_is(scene, trouble):
    scene.server.gone = {"%1"} if trouble == "gone" else set()
    scene.server.trouble = trouble == "trouble"
    scene.is_there = trouble != "nowhere"
    scene.paint(1, is_painted=True)
    await wait_until(lambda: scene.server.asked or trouble == "nowhere")
    assert scene.looks == []
    scene.server.gone, scene.server.trouble, scene.is_there = set(), False, True
    await wait_until(lambda: scene.seen == ["%1"])


async def test_a_server_that_does_not_answer_is_not_asked_again_meanwhile(scene):
    scene.server.gate.clear()
    scene.paint(1, is_painted=True)
    await wait_until(lambda: scene.server.asked)
    for _ in range(3):
        await scene.later()
        scene.paint(1, is_painted=True)
        await asyncio.sleep(0.02)
    assert scene.server.asked == [["%1"]]
    scene.server.gate.set()
    await scene.later()
    scene.paint(1, is_painted=True)
    await wait_until(lambda: len(scene.looks) >= 2)


async def test_looks_are_counted(scene):
    scene.paint(1, 2, is_painted=True)
    await wait_until(lambda: len(scene.looks) == 2)
    assert scene.eyes.meter.total == 2
    assert scene.eyes.meter.rate(scene.clock.monotonic()) > 0

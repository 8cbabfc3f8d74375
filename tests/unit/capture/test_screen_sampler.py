"""Looks at panes that repaint: when they stir, in one go, and never in another way than through the server."""

import asyncio
from collections.abc import Sequence

import pytest

from termvisor.backends.pane_source import Capture
from termvisor.capture.sampling_schedule import APART_FOR, Stir
from termvisor.capture.screen_sampler import Eyes, Look
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId, PaneId
from termvisor.model.terminal.screen_row import Life
from tests.unit.capture.scene import AheadClock
from tests.unit.waiting import until


class Shown:
    """A server that shows the name of each of its panes; it may be slow, or lose panes."""

    def __init__(self) -> None:
        self.asked: list[list[MuxPaneId]] = []
        self.is_alternate = True
        self.gone: set[str] = set()
        self.trouble = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def looks(self, panes: Sequence[MuxPaneId]) -> list[Capture | None]:
        self.asked.append(list(panes))
        await self.gate.wait()
        if self.trouble:
            raise MuxError("the client ended")
        return [None if pane in self.gone else Capture(rows=(pane,), alternate=self.is_alternate) for pane in panes]


class Scene:
    def __init__(self) -> None:
        self.clock, self.server, self.looks = AheadClock(), Shown(), list[Look]()
        self.is_there = True
        self.eyes = Eyes(self.clock, self.place, self.take)

    def place(self, pane: PaneId) -> tuple[Shown, MuxPaneId] | None:
        return (self.server, MuxPaneId(f"%{pane}")) if self.is_there else None

    async def take(self, looks: list[Look]) -> None:
        self.looks += looks

    def paint(self, *panes: int, **how) -> None:
        for pane in panes:
            self.eyes.stirred(Stir(PaneId(pane), EpochId(1), life(pane), **how))

    def leave(self, pane: int, epoch: int = 1) -> None:
        self.eyes.stirred(Stir(PaneId(pane), EpochId(epoch)))

    async def later(self) -> None:
        """Half a second passes at once."""
        self.clock.ahead += APART_FOR
        await asyncio.sleep(0)

    @property
    def seen(self) -> list[str]:
        return [look.seen.rows[0] for look in self.looks]


def life(pane: int) -> Life:
    return Life(PaneId(pane), EpochId(1), True, 5)


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
    await until(lambda: scene.looks)
    (look,) = scene.looks
    assert (look.life, look.seen.rows) == (life(7), ("%7",))
    assert before <= look.at <= scene.clock.now()


async def test_panes_that_are_due_together_are_asked_for_in_one_go(scene):
    scene.paint(1, 2, 3, is_painted=True)
    await until(lambda: len(scene.looks) == 3)
    assert scene.server.asked == [["%1", "%2", "%3"]]


async def test_a_pane_that_no_longer_repaints_is_let_alone(scene):
    scene.paint(1)
    scene.leave(1)
    scene.paint(2)
    await until(lambda: scene.looks)
    assert scene.seen == ["%2"]


async def test_the_end_of_an_older_epoch_does_not_stop_the_looks_at_a_newer_one(scene):
    scene.paint(1)
    scene.leave(1, epoch=9)
    await until(lambda: scene.seen == ["%1"])


async def test_a_screen_that_is_another_one_by_now_is_not_taken_for_it(scene):
    scene.server.is_alternate = False
    scene.paint(1, is_painted=True)
    await until(lambda: scene.server.asked)
    scene.server.is_alternate = True
    scene.paint(2, is_painted=True)
    await until(lambda: scene.looks)
    assert scene.seen == ["%2"]


@pytest.mark.parametrize("trouble", ["gone", "trouble", "nowhere"])
async def test_a_look_that_is_not_possible_yet_is_taken_when_it_is(scene, trouble):
    scene.server.gone = {"%1"} if trouble == "gone" else set()
    scene.server.trouble = trouble == "trouble"
    scene.is_there = trouble != "nowhere"
    scene.paint(1, is_painted=True)
    await until(lambda: scene.server.asked or trouble == "nowhere")
    assert scene.looks == []
    scene.server.gone, scene.server.trouble, scene.is_there = set(), False, True
    await until(lambda: scene.seen == ["%1"])


async def test_a_server_that_does_not_answer_is_not_asked_again_meanwhile(scene):
    scene.server.gate.clear()
    scene.paint(1, is_painted=True)
    await until(lambda: scene.server.asked)
    for _ in range(3):
        await scene.later()
        scene.paint(1, is_painted=True)
        await asyncio.sleep(0.02)
    assert scene.server.asked == [["%1"]]
    scene.server.gate.set()
    await scene.later()
    scene.paint(1, is_painted=True)
    await until(lambda: len(scene.looks) >= 2)


async def test_looks_are_counted(scene):
    scene.paint(1, 2, is_painted=True)
    await until(lambda: len(scene.looks) == 2)
    assert scene.eyes.meter.total == 2
    assert scene.eyes.meter.rate(scene.clock.monotonic()) > 0

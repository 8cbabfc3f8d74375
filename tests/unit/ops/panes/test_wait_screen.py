"""Looking for text on a screen: only where a program repaints, not too often, and never failing with the pane."""

import pytest

from termvisor.errors import MuxError
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import Activity, PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.ops.panes._wait_screen import OnScreen
from termvisor.testing.world import MemoryWorld, shell

PANE = PaneId(1)


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.pane(shell())
    show(world, "working", "ready")
    return world


def show(world: MemoryWorld, *rows: str) -> None:
    world.fleet.screens[PANE] = Screen(pane=PANE, rows=rows, width=80, height=24)


def painting(world: MemoryWorld, **changes: object) -> PaneView:
    return world.change(PANE, activity=Activity(kind="alt_screen"), **changes)


def looking(world: MemoryWorld) -> OnScreen:
    return OnScreen(world, lambda text: "ready" in text)


async def test_the_first_row_that_fits_is_found(world: MemoryWorld) -> None:
    assert await looking(world).row(painting(world)) == "ready"
    show(world, "working")
    assert await looking(world).row(painting(world)) is None


async def test_a_pane_that_scrolls_or_is_gone_is_not_looked_at(world: MemoryWorld) -> None:
    assert await looking(world).row(world.fleet.views[0]) is None
    assert await looking(world).row(painting(world, gone_at=5)) is None


async def test_a_second_look_waits_a_moment(world: MemoryWorld) -> None:
    screen = looking(world)
    show(world, "working")
    assert await screen.row(painting(world)) is None
    assert screen.patience() == 3600.0
    show(world, "ready")
    assert await screen.row(painting(world)) is None
    assert 0 < screen.patience() <= 0.25
    await world.clock.advance(screen.patience())
    assert await screen.row(painting(world)) == "ready"


async def test_a_pane_that_ends_while_it_is_looked_at_is_no_error(world: MemoryWorld) -> None:
    async def gone(_pane: PaneId, *, escapes: bool = False) -> Screen:
        raise MuxError("pane %1 is gone")

    world.fleet.screen = gone  # type: ignore[method-assign]
    assert await looking(world).row(painting(world)) is None

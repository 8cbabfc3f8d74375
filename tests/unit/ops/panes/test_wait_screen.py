"""Looking for text on a screen: only where a program repaints, not too often, and never failing with the pane."""

import pytest

from termvisor.errors import MuxError
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity, PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.ops.panes._wait_screen import ScreenTextMatcher
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


@pytest.fixture
def world() -> FakeServices:
    world = FakeServices()
    world.add_pane(build_shell_facts())
    show(world, "working", "ready")
    return world


def show(world: FakeServices, *rows: str) -> None:
    world.panes.screens[PANE] = Screen(pane=PANE, rows=rows, width=80, height=24)


def painting(world: FakeServices, **changes: object) -> PaneView:
    return world.change_pane(PANE, activity=PaneActivity(kind="alt_screen"), **changes)


def looking(world: FakeServices) -> ScreenTextMatcher:
    return ScreenTextMatcher(world, lambda text: "ready" in text)


async def test_the_first_row_that_fits_is_found(world: FakeServices) -> None:
    assert await looking(world).find_row(painting(world)) == "ready"
    show(world, "working")
    assert await looking(world).find_row(painting(world)) is None


async def test_a_pane_that_scrolls_or_is_gone_is_not_looked_at(world: FakeServices) -> None:
    assert await looking(world).find_row(world.panes.views[0]) is None
    assert await looking(world).find_row(painting(world, gone_at=5)) is None


async def test_a_second_look_waits_a_moment(world: FakeServices) -> None:
    screen = looking(world)
    show(world, "working")
    assert await screen.find_row(painting(world)) is None
    assert screen.get_retry_delay() == 3600.0
    show(world, "ready")
    assert await screen.find_row(painting(world)) is None
    assert 0 < screen.get_retry_delay() <= 0.25
    await world.clock.advance(screen.get_retry_delay())
    assert await screen.find_row(painting(world)) == "ready"


async def test_a_pane_that_ends_while_it_is_looked_at_is_no_error(world: FakeServices) -> None:
    async def gone(_pane: PaneId, *, escapes: bool = False) -> Screen:
        raise MuxError("pane %1 is gone")

    world.panes.capture_screen = gone  # type: ignore[method-assign]
    assert await looking(world).find_row(painting(world)) is None

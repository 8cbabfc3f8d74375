"""Which command is waited for, and when it is over."""

import pytest

from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import Activity, PaneView
from termvisor.ops.panes._wait_command import Awaited, awaited, ended, missed, outcome
from termvisor.testing.world import MemoryWorld, shell

PANE = PaneId(1)


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.pane(shell())
    world.start(PANE, "first")
    world.finish(PANE, 0)
    return world


def pane(world: MemoryWorld) -> PaneView:
    return world.fleet.views[0]


async def test_what_runs_now_is_waited_for(world: MemoryWorld) -> None:
    running = world.start(PANE, "make")
    what = await awaited(world, pane(world), None)
    assert (what, await ended(world, pane(world), what)) == (Awaited(running.id, 0), None)
    over = world.finish(PANE, 3)
    assert await ended(world, pane(world), what) == over


async def test_at_a_prompt_the_next_one_is_waited_for(world: MemoryWorld) -> None:
    what = await awaited(world, pane(world), None)
    assert await ended(world, pane(world), what) is None
    world.start(PANE, "next")
    assert await ended(world, pane(world), what) is None
    over = world.finish(PANE, 0)
    world.start(PANE, "and another")
    assert await ended(world, pane(world), what) == over


async def test_at_the_prompt_of_an_inner_shell_the_outer_command_is_not_meant(world: MemoryWorld) -> None:
    world.start(PANE, "bash")
    world.change(PANE, activity=Activity(kind="prompt"))
    what = await awaited(world, pane(world), None)
    assert what.id is None


async def test_in_an_editor_the_editor_is_meant(world: MemoryWorld) -> None:
    running = world.start(PANE, "vi")
    world.change(PANE, activity=Activity(kind="alt_screen"))
    assert (await awaited(world, pane(world), None)).id == running.id


async def test_from_a_cursor_on_what_is_over_already_is_found(world: MemoryWorld) -> None:
    cursor = len(world.history.stored)
    world.start(PANE, "typed after")
    over = world.finish(PANE, 1)
    assert await ended(world, pane(world), await awaited(world, pane(world), cursor)) == over


async def test_from_a_cursor_on_what_started_earlier_does_not_count(world: MemoryWorld) -> None:
    world.start(PANE, "long and silent")
    cursor = len(world.history.stored)
    what = await awaited(world, pane(world), cursor)
    world.finish(PANE, 0)
    assert await ended(world, pane(world), what) is None
    world.start(PANE, "typed ahead")
    over = world.finish(PANE, 0)
    assert await ended(world, pane(world), what) == over


async def test_a_command_whose_end_was_not_told_is_over_too(world: MemoryWorld) -> None:
    world.start(PANE, "ssh far")
    what = await awaited(world, pane(world), None)
    lost = world.finish(PANE, None)
    assert (await ended(world, pane(world), what), outcome(lost)) == (lost, "lost")


async def test_who_waits_in_vain_is_told_why(world: MemoryWorld) -> None:
    assert "--since" in await missed(world, pane(world))
    world.start(PANE, "long")
    assert "still runs" in await missed(world, pane(world))
    silent = MemoryWorld()
    assert "visor setup shell" in await missed(silent, silent.pane(shell()))

"""What one command printed, and what is missing of it."""

import pytest
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.ops.history._command_output import output
from termvisor.testing.world import MemoryWorld, shell

PANE = PaneId(1)


@pytest.fixture
def world() -> MemoryWorld:
    """Lines: 1 `$ a`, 2-4 its output, 5 `$ b`, 6 its output."""
    world = MemoryWorld()
    world.pane(shell())
    world.start(PANE, "a")
    world.say(PANE, "one", "two", "three")
    world.finish(PANE, 0)
    world.start(PANE, "b")
    world.say(PANE, "four")
    return world


async def texts(world: MemoryWorld, number: int, after: int | None = None, limit: int = 100) -> tuple[list[str], bool]:
    got = await output(world, world.history.commands.ran[number - 1], after, limit)
    return [line.text for line in got.lines], got.is_complete


async def test_only_its_own_lines_are_given(world: MemoryWorld) -> None:
    assert await texts(world, 1) == (["one", "two", "three"], True)
    assert await texts(world, 2) == (["four"], True)


async def test_it_is_read_in_pages(world: MemoryWorld) -> None:
    assert await texts(world, 1, None, 2) == (["one", "two"], False)
    assert await texts(world, 1, 3, 2) == (["three"], True)
    assert await texts(world, 1, 9, 2) == ([], True)


async def test_the_unfinished_line_belongs_to_what_runs(world: MemoryWorld) -> None:
    ended, running = world.history.commands.ran
    assert not (await output(world, ended, None, 100)).has_pending
    assert (await output(world, running, None, 100)).has_pending
    assert not (await output(world, replace(running, first_line=8), None, 100)).has_pending


async def test_an_unfinished_line_may_be_the_last_of_what_ended(world: MemoryWorld) -> None:
    world.finish(PANE, 0)
    ended = replace(world.history.commands.ran[1], last_line=7)
    assert (await output(world, ended, None, 100)).has_pending


async def test_a_command_without_output_has_none(world: MemoryWorld) -> None:
    silent = replace(world.history.commands.ran[0], first_line=2, last_line=1)
    got = await output(world, silent, None, 100)
    assert (got.lines, got.is_complete, got.lines_gone, got.position) == ([], True, 0, 1)


async def test_lines_that_are_no_longer_kept_are_counted(world: MemoryWorld) -> None:
    del world.history.stored[:3]
    assert [(await output(world, command, None, 100)).lines_gone for command in world.history.commands.ran] == [2, 0]
    del world.history.stored[:]
    assert (await output(world, world.history.commands.ran[0], None, 100)).lines_gone == 3


async def test_lines_of_another_epoch_are_not_its_own(world: MemoryWorld) -> None:
    world.history.stored[2] = replace(world.history.stored[2], epoch=EpochId(2))
    assert await texts(world, 1) == (["one", "three"], True)


async def test_gaps_within_it_are_told_and_others_are_not(world: MemoryWorld) -> None:
    within = replace(world.lose(PANE, "log_truncated", 1), after=EpochId(1), before=EpochId(1))
    await world.clock.advance(10)
    after = replace(world.lose(PANE, "pipe_stolen", 1), after=EpochId(1))
    elsewhere = replace(world.lose(PANE, "pipe_stolen", 1), after=EpochId(7))
    world.history.missing[:] = [within, after, elsewhere]
    ended, running = world.history.commands.ran
    assert (await output(world, ended, None, 100)).gaps == [within]
    assert (await output(world, running, None, 100)).gaps == [within, after]

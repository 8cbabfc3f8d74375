"""What one command printed, and what is missing of it."""

import pytest
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.ops.history._command_output import read_command_output
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


@pytest.fixture
def world() -> FakeServices:
    """Lines: 1 `$ a`, 2-4 its output, 5 `$ b`, 6 its output."""
    world = FakeServices()
    world.add_pane(build_shell_facts())
    world.start_command(PANE, "a")
    world.print_lines(PANE, "one", "two", "three")
    world.finish_command(PANE, 0)
    world.start_command(PANE, "b")
    world.print_lines(PANE, "four")
    return world


async def texts(world: FakeServices, number: int, after: int | None = None, limit: int = 100) -> tuple[list[str], bool]:
    got = await read_command_output(world, world.history.commands.stored_commands[number - 1], after, limit)
    return [line.text for line in got.lines], got.is_complete


async def test_only_its_own_lines_are_given(world: FakeServices) -> None:
    assert await texts(world, 1) == (["one", "two", "three"], True)
    assert await texts(world, 2) == (["four"], True)


async def test_it_is_read_in_pages(world: FakeServices) -> None:
    assert await texts(world, 1, None, 2) == (["one", "two"], False)
    assert await texts(world, 1, 3, 2) == (["three"], True)
    assert await texts(world, 1, 9, 2) == ([], True)


async def test_the_unfinished_line_belongs_to_what_runs(world: FakeServices) -> None:
    ended, running = world.history.commands.stored_commands
    assert not (await read_command_output(world, ended, None, 100)).has_pending
    assert (await read_command_output(world, running, None, 100)).has_pending
    assert not (await read_command_output(world, replace(running, first_line=8), None, 100)).has_pending


async def test_an_unfinished_line_may_be_the_last_of_what_ended(world: FakeServices) -> None:
    world.finish_command(PANE, 0)
    ended = replace(world.history.commands.stored_commands[1], last_line=7)
    assert (await read_command_output(world, ended, None, 100)).has_pending


async def test_a_command_without_output_has_none(world: FakeServices) -> None:
    silent = replace(world.history.commands.stored_commands[0], first_line=2, last_line=1)
    got = await read_command_output(world, silent, None, 100)
    assert (got.lines, got.is_complete, got.lines_gone, got.position) == ([], True, 0, 1)


async def test_lines_that_are_no_longer_kept_are_counted(world: FakeServices) -> None:
    del world.history.stored_lines[:3]
    assert [
        (await read_command_output(world, command, None, 100)).lines_gone
        for command in world.history.commands.stored_commands
    ] == [2, 0]
    del world.history.stored_lines[:]
    assert (await read_command_output(world, world.history.commands.stored_commands[0], None, 100)).lines_gone == 3


async def test_lines_of_another_epoch_are_not_its_own(world: FakeServices) -> None:
    world.history.stored_lines[2] = replace(world.history.stored_lines[2], epoch=EpochId(2))
    assert await texts(world, 1) == (["one", "three"], True)


async def test_gaps_within_it_are_told_and_others_are_not(world: FakeServices) -> None:
    within = replace(world.add_gap(PANE, "log_truncated", 1), after=EpochId(1), before=EpochId(1))
    await world.clock.advance(10)
    after = replace(world.add_gap(PANE, "pipe_stolen", 1), after=EpochId(1))
    elsewhere = replace(world.add_gap(PANE, "pipe_stolen", 1), after=EpochId(7))
    world.history.stored_gaps[:] = [within, after, elsewhere]
    ended, running = world.history.commands.stored_commands
    assert (await read_command_output(world, ended, None, 100)).gaps == [within]
    assert (await read_command_output(world, running, None, 100)).gaps == [within, after]

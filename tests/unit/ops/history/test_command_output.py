"""Output lines of one command, with gaps and deleted lines."""

import pytest
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.ops.history._command_output import read_command_output
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


@pytest.fixture
def services() -> FakeServices:
    """Lines: 1 `$ a`, 2-4 its output, 5 `$ b`, 6 its output."""
    services = FakeServices()
    services.add_pane(build_shell_facts())
    services.start_command(PANE, "a")
    services.print_lines(PANE, "one", "two", "three")
    services.finish_command(PANE, 0)
    services.start_command(PANE, "b")
    services.print_lines(PANE, "four")
    return services


async def read_texts(
    services: FakeServices, number: int, after: int | None = None, limit: int = 100
) -> tuple[list[str], bool]:
    got = await read_command_output(services, services.history.commands.stored_commands[number - 1], after, limit)
    return [line.text for line in got.lines], got.is_complete


async def test_only_its_own_lines_are_given(services: FakeServices) -> None:
    assert await read_texts(services, 1) == (["one", "two", "three"], True)
    assert await read_texts(services, 2) == (["four"], True)


async def test_it_is_read_in_pages(services: FakeServices) -> None:
    assert await read_texts(services, 1, None, 2) == (["one", "two"], False)
    assert await read_texts(services, 1, 3, 2) == (["three"], True)
    assert await read_texts(services, 1, 9, 2) == ([], True)


async def test_the_incomplete_line_belongs_to_the_running_command(services: FakeServices) -> None:
    ended, running = services.history.commands.stored_commands
    assert not (await read_command_output(services, ended, None, 100)).has_pending
    assert (await read_command_output(services, running, None, 100)).has_pending
    assert not (await read_command_output(services, replace(running, first_line=8), None, 100)).has_pending


async def test_the_incomplete_line_may_belong_to_an_ended_command(services: FakeServices) -> None:
    services.finish_command(PANE, 0)
    ended = replace(services.history.commands.stored_commands[1], last_line=7)
    assert (await read_command_output(services, ended, None, 100)).has_pending


async def test_a_command_without_output_has_none(services: FakeServices) -> None:
    silent = replace(services.history.commands.stored_commands[0], first_line=2, last_line=1)
    got = await read_command_output(services, silent, None, 100)
    assert (got.lines, got.is_complete, got.lines_gone, got.position) == ([], True, 0, 1)


async def test_lines_that_are_no_longer_kept_are_counted(services: FakeServices) -> None:
    del services.history.stored_lines[:3]
    assert [
        (await read_command_output(services, command, None, 100)).lines_gone
        for command in services.history.commands.stored_commands
    ] == [2, 0]
    del services.history.stored_lines[:]
    assert (
        await read_command_output(services, services.history.commands.stored_commands[0], None, 100)
    ).lines_gone == 3


async def test_lines_of_another_epoch_are_not_its_own(services: FakeServices) -> None:
    services.history.stored_lines[2] = replace(services.history.stored_lines[2], epoch=EpochId(2))
    assert await read_texts(services, 1) == (["one", "three"], True)


async def test_only_gaps_within_the_command_are_reported(services: FakeServices) -> None:
    within = replace(services.add_gap(PANE, "log_truncated", 1), after=EpochId(1), before=EpochId(1))
    await services.clock.advance(10)
    after = replace(services.add_gap(PANE, "pipe_stolen", 1), after=EpochId(1))
    elsewhere = replace(services.add_gap(PANE, "pipe_stolen", 1), after=EpochId(7))
    services.history.stored_gaps[:] = [within, after, elsewhere]
    ended, running = services.history.commands.stored_commands
    assert (await read_command_output(services, ended, None, 100)).gaps == [within]
    assert (await read_command_output(services, running, None, 100)).gaps == [within, after]

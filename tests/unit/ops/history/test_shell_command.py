"""Output lines of one command, with gaps and deleted lines."""

import pytest
from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.errors import BadRequest, CommandNotFound
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import ShellCommand
from termvisor.ops.history._shell_command import (
    build_command_facts,
    format_duration,
    format_exit_code,
    read_command_output,
    resolve_command,
)
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


def build_command(**changes) -> ShellCommand:
    known = {"pane": PANE, "epoch": EpochId(1), "started_at": NOON, "start": 5, "first_line": 2}
    return ShellCommand(**(known | changes))


@pytest.mark.parametrize(
    ("command", "seconds", "shown"),
    [
        (build_command(), 60.0, "running"),
        (build_command(status="lost", end=9, last_line=3), None, "lost"),
        (build_command(status="finished", ended_at=NOON + NS // 4, exit_code=2), 0.25, "2"),
        (build_command(status="finished", ended_at=NOON), 0.0, "?"),
        (build_command(status="finished", ended_at=NOON - NS, exit_code=0), 0.0, "0"),
    ],
)
def test_a_command_has_duration_and_exit_status(command: ShellCommand, seconds: float | None, shown: str) -> None:
    facts = build_command_facts(command, NOON + 60 * NS)
    assert (facts.seconds, format_exit_code(facts)) == (seconds, shown)


def test_command_facts_are_redacted() -> None:
    key = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    facts = build_command_facts(build_command(line=f"login {key}", cwd=f"/{key}"), NOON)
    assert key not in str(facts)


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.04, "0.0s"), (9.96, "10.0s"), (10.0, "10s"), (120, "2m"), (None, "-")]
)
def test_short_durations_have_tenths_of_a_second(seconds: float | None, shown: str) -> None:
    assert format_duration(seconds) == shown


async def test_a_command_is_named_by_its_number_or_as_the_last() -> None:
    services = FakeServices()
    services.add_pane(build_shell_facts())
    first, second = services.start_command(PANE, "a"), services.start_command(PANE, "b")
    assert [await resolve_command(services, PANE, which) for which in ("1", "2", "last")] == [first, second, second]


@pytest.mark.parametrize("which", ["3", "0", "9" * 30])
async def test_an_unknown_command_number_is_not_found(which: str) -> None:
    with pytest.raises(CommandNotFound):
        await resolve_command(FakeServices(), PANE, which)


@pytest.mark.parametrize("which", ["", "first", "-1", "1.5", "²"])
async def test_an_invalid_command_reference_is_rejected(which: str) -> None:
    with pytest.raises(BadRequest):
        await resolve_command(FakeServices(), PANE, which)


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
    got = await read_command_output(services, (await services.history.commands.list())[number - 1], after, limit)
    return [line.text for line in got.lines], got.is_complete


async def test_a_command_has_only_its_own_lines(services: FakeServices) -> None:
    assert await read_texts(services, 1) == (["one", "two", "three"], True)
    assert await read_texts(services, 2) == (["four"], True)


async def test_command_output_is_read_in_pages(services: FakeServices) -> None:
    assert await read_texts(services, 1, None, 2) == (["one", "two"], False)
    assert await read_texts(services, 1, 3, 2) == (["three"], True)
    assert await read_texts(services, 1, 9, 2) == ([], True)


async def test_the_incomplete_line_belongs_to_the_running_command(services: FakeServices) -> None:
    ended, running = await services.history.commands.list()
    assert not (await read_command_output(services, ended, None, 100)).has_pending
    assert (await read_command_output(services, running, None, 100)).has_pending
    assert not (await read_command_output(services, replace(running, first_line=8), None, 100)).has_pending


async def test_the_incomplete_line_may_belong_to_an_ended_command(services: FakeServices) -> None:
    services.finish_command(PANE, 0)
    ended = replace((await services.history.commands.list())[1], last_line=7)
    assert (await read_command_output(services, ended, None, 100)).has_pending


async def test_a_command_without_output_has_none(services: FakeServices) -> None:
    silent = replace((await services.history.commands.list())[0], first_line=2, last_line=1)
    got = await read_command_output(services, silent, None, 100)
    assert (got.lines, got.is_complete, got.lines_gone, got.position) == ([], True, 0, 1)


async def test_deleted_lines_of_the_output_are_counted(services: FakeServices) -> None:
    commands = await services.history.commands.list()
    services.run_sql("DELETE FROM block WHERE first_line <= 3")
    gone = [(await read_command_output(services, command, None, 100)).lines_gone for command in commands]
    assert gone == [2, 0]
    services.run_sql("DELETE FROM block")
    assert (await read_command_output(services, commands[0], None, 100)).lines_gone == 3


async def test_lines_of_another_epoch_are_not_output_of_the_command(services: FakeServices) -> None:
    services.run_sql("UPDATE block SET epoch = 2 WHERE first_line = 3")
    assert await read_texts(services, 1) == (["one", "three"], True)


async def test_only_gaps_within_the_command_are_reported(services: FakeServices) -> None:
    other = await services.store.output.open_epoch(PANE, "pipe", services.clock.now())
    within = replace(services.add_gap(PANE, "log_truncated", 1), after=EpochId(1), before=EpochId(1))
    await services.clock.advance(10)
    after = replace(services.add_gap(PANE, "pipe_stolen", 1), after=EpochId(1))
    elsewhere = replace(services.add_gap(PANE, "pipe_stolen", 1), after=other)
    for gap in (within, after, elsewhere):
        services.run_sql("UPDATE gap SET after_epoch = ?, before_epoch = ? WHERE id = ?", gap.after, gap.before, gap.id)
    ended, running = await services.history.commands.list()
    assert (await read_command_output(services, ended, None, 100)).gaps == [within]
    assert (await read_command_output(services, running, None, 100)).gaps == [within, after]

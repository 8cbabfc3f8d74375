import pytest
from msgspec.structs import replace

from termvisor.model.terminal.command import CommandBoundary, CommandUpdate, ShellCommand
from termvisor.model.terminal.output import TextBlock
from termvisor.store import EpochUpdate

MAKE = CommandUpdate(start=10, started_at=1000, line="make Test", cwd="/src", is_proven=True)
DONE = replace(MAKE, ended_at=3000, exit_code=2, end=90, status="finished")


@pytest.fixture
async def pane(new_pane):
    return await new_pane()


@pytest.fixture
async def epoch(store, pane):
    return await store.output.open_epoch(pane, "pipe", 1)


@pytest.fixture
def step(store, pane, epoch):
    """Return a function that commits commands, edges and lines in one step."""

    async def commit_step(*commands, edges=(), lines=()):
        blocks = (TextBlock(epoch=epoch, start=0, end=9, at=5, until=5, lines=lines),)
        await store.output.commit(
            [EpochUpdate(pane=pane, epoch=epoch, committed=9, blocks=blocks, commands=commands, edges=tuple(edges))]
        )

    return commit_step


async def test_command_keeps_its_id_over_updates(store, pane, epoch, step):
    await step(MAKE, edges=[(CommandBoundary(10, 10, False), 1)], lines=("$ make", "one"))
    assert await store.commands.find(pane, "last") == ShellCommand(
        id=1,
        pane=pane,
        epoch=epoch,
        line="make Test",
        cwd="/src",
        started_at=1000,
        start=10,
        first_line=2,
        is_proven=True,
    )
    await step(DONE, edges=[(CommandBoundary(10, 90, True), 1)], lines=("two", "$"))
    done = await store.commands.find(pane, 1)
    assert (done.status, done.exit_code, done.ended_at, done.end) == ("finished", 2, 3000, 90)
    assert (done.first_line, done.last_line) == (2, 3)


async def test_command_ids_have_no_gaps(store, step):
    await step(MAKE)
    await step(DONE)
    await step(replace(MAKE, start=100))
    assert [command.id for command in await store.commands.list()] == [1, 2]


async def test_a_command_without_output_has_an_empty_line_range(store, pane, step):
    await step(
        DONE, edges=[(CommandBoundary(10, 10, False), 1), (CommandBoundary(10, 10, True), 1)], lines=("$ make", "$")
    )
    done = await store.commands.find(pane, "last")
    assert (done.first_line, done.last_line) == (2, 1)


async def test_failed_commit_stores_no_command(store, pane, epoch, step):
    await step()
    with pytest.raises(Exception, match="already beyond"):
        await store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=1, commands=(MAKE,))])
    assert await store.commands.list() == []


async def test_running_command_is_lost_when_its_epoch_closes(store, pane, epoch, step):
    await step(MAKE, edges=[(CommandBoundary(10, 10, False), 1)], lines=("$ make", "one"))
    await store.output.close_epoch(epoch, "stopped", 9, 40)
    (lost,) = await store.commands.list()
    assert (lost.status, lost.end, lost.last_line, lost.ended_at) == ("lost", 40, 2, None)


async def test_a_command_end_read_after_the_epoch_closed_is_stored(store, pane, epoch, step):
    await step(MAKE)
    await store.output.close_epoch(epoch, "stopped", 9, 40)
    await step(DONE)
    assert (await store.commands.find(pane, "last")).status == "finished"


async def test_commands_are_filtered(store, pane, new_pane, step):
    other = await new_pane("%2")
    theirs = await store.output.open_epoch(other, "pipe", 1)
    await step(
        DONE, replace(DONE, start=100, started_at=5000, exit_code=0, line="ls"), replace(MAKE, start=200, line=None)
    )
    await store.output.commit([EpochUpdate(pane=other, epoch=theirs, committed=1, commands=(replace(DONE, start=7),))])

    async def listed(**asked):
        return [command.id for command in await store.commands.list(**asked)]

    assert await listed() == [1, 2, 3, 4]
    assert await listed(limit=2) == [3, 4]
    assert await listed(pane=other) == [4]
    assert await listed(since=5000) == [2]
    assert await listed(failed=True) == [1, 4]
    assert await listed(text="TEST") == [1, 4]
    assert await listed(text="%") == []
    assert await listed(pane=pane, failed=True, text="make", since=1) == [1]


async def test_one_command_belongs_to_one_pane(store, pane, new_pane, step):
    await step(MAKE)
    assert await store.commands.find(await new_pane("%2"), 1) is None
    assert await store.commands.find(pane, 99) is None


async def test_the_command_that_follows_a_line_is_found(store, pane, step):
    await step(
        DONE,
        replace(DONE, start=100),
        edges=[(CommandBoundary(10, 0, False), 1), (CommandBoundary(100, 0, False), 3)],
        lines=("$ a", "1", "$ b", "2"),
    )
    assert [
        found and found.id for found in [await store.commands.find_after_line(pane, line) for line in (0, 1, 2, 3, 4)]
    ] == [
        1,
        1,
        2,
        2,
        None,
    ]


async def test_surrogates_in_a_command_are_replaced(store, pane, step):
    await step(replace(MAKE, line="a\0b \ud800 '; DROP TABLE command; --", cwd="\udfff"))
    command = await store.commands.find(pane, "last")
    assert (command.line, command.cwd) == ("a\0b ? '; DROP TABLE command; --", "?")

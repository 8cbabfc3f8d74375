"""Which command is waited for, and when it is over."""

import pytest

from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneActivity, PaneView
from termvisor.ops.panes._wait_command import (
    AwaitedCommand,
    choose_awaited_command,
    explain_missed_command,
    find_ended_command,
    get_command_outcome,
)
from termvisor.testing.fake_services import FakeServices, build_shell_facts

PANE = PaneId(1)


@pytest.fixture
def world() -> FakeServices:
    world = FakeServices()
    world.add_pane(build_shell_facts())
    world.start_command(PANE, "first")
    world.finish_command(PANE, 0)
    return world


def pane(world: FakeServices) -> PaneView:
    return world.panes.views[0]


async def test_what_runs_now_is_waited_for(world: FakeServices) -> None:
    running = world.start_command(PANE, "make")
    what = await choose_awaited_command(world, pane(world), None)
    assert (what, await find_ended_command(world, pane(world), what)) == (AwaitedCommand(running.id, 0), None)
    over = world.finish_command(PANE, 3)
    assert await find_ended_command(world, pane(world), what) == over


async def test_at_a_prompt_the_next_one_is_waited_for(world: FakeServices) -> None:
    what = await choose_awaited_command(world, pane(world), None)
    assert await find_ended_command(world, pane(world), what) is None
    world.start_command(PANE, "next")
    assert await find_ended_command(world, pane(world), what) is None
    over = world.finish_command(PANE, 0)
    world.start_command(PANE, "and another")
    assert await find_ended_command(world, pane(world), what) == over


async def test_at_the_prompt_of_an_inner_shell_the_outer_command_is_not_meant(world: FakeServices) -> None:
    world.start_command(PANE, "bash")
    world.change_pane(PANE, activity=PaneActivity(kind="prompt"))
    what = await choose_awaited_command(world, pane(world), None)
    assert what.id is None


async def test_in_an_editor_the_editor_is_meant(world: FakeServices) -> None:
    running = world.start_command(PANE, "vi")
    world.change_pane(PANE, activity=PaneActivity(kind="alt_screen"))
    assert (await choose_awaited_command(world, pane(world), None)).id == running.id


async def test_from_a_cursor_on_what_is_over_already_is_found(world: FakeServices) -> None:
    cursor = len(world.history.stored_lines)
    world.start_command(PANE, "typed after")
    over = world.finish_command(PANE, 1)
    assert (
        await find_ended_command(world, pane(world), await choose_awaited_command(world, pane(world), cursor)) == over
    )


async def test_from_a_cursor_on_what_started_earlier_does_not_count(world: FakeServices) -> None:
    world.start_command(PANE, "long and silent")
    cursor = len(world.history.stored_lines)
    what = await choose_awaited_command(world, pane(world), cursor)
    world.finish_command(PANE, 0)
    assert await find_ended_command(world, pane(world), what) is None
    world.start_command(PANE, "typed ahead")
    over = world.finish_command(PANE, 0)
    assert await find_ended_command(world, pane(world), what) == over


async def test_a_command_whose_end_was_not_told_is_over_too(world: FakeServices) -> None:
    world.start_command(PANE, "ssh far")
    what = await choose_awaited_command(world, pane(world), None)
    lost = world.finish_command(PANE, None)
    assert (await find_ended_command(world, pane(world), what), get_command_outcome(lost)) == (lost, "lost")


async def test_who_waits_in_vain_is_told_why(world: FakeServices) -> None:
    assert "--since" in await explain_missed_command(world, pane(world))
    world.start_command(PANE, "long")
    assert "still runs" in await explain_missed_command(world, pane(world))
    silent = FakeServices()
    assert "visor setup shell" in await explain_missed_command(silent, silent.add_pane(build_shell_facts()))

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from termvisor.model.ids import PaneId
from termvisor.ops.api.dispatch import stream_operation
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices, build_shell_facts
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_agents import ASKING_PANE
from termvisor.testing.sample_services import build_sample_services


async def _take_next(services: FakeServices, items: AsyncIterator[Any], seconds: float = 1.0) -> Any:
    """Return the next item, which comes within this time."""
    pushed = asyncio.ensure_future(anext(items))
    for _ in range(10):
        await let_tasks_run()
        await services.clock.advance(seconds / 10)
    return await asyncio.wait_for(pushed, 5)


async def test_a_snapshot_comes_first_then_only_rows_that_changed() -> None:
    services = await build_sample_services(op="watch")
    async with aclosing(stream_operation(services, "watch_panes", {})) as items:
        first = await anext(items)
        services.agents.set_state(ASKING_PANE, "running")
        changed = await _take_next(services, items)
    assert first.is_snapshot
    assert [brief.id for brief in first.panes] == [1, 2, 4, 5, 6]
    assert [(brief.id, brief.state) for brief in changed.panes] == [(ASKING_PANE, "running")]
    assert not changed.is_snapshot


async def test_opened_and_closed_panes_are_streamed() -> None:
    services = await build_sample_services()
    async with aclosing(stream_operation(services, "watch_panes", {})) as items:
        await anext(items)
        services.remove_pane(PaneId(1))
        closed = await _take_next(services, items)
        new = services.add_pane(build_shell_facts("%77", session="new"))
        services.add_event("pane_appeared", new.id)
        opened = await _take_next(services, items)
    assert closed.gone == (1,)
    assert [brief.session for brief in opened.panes] == ["new"]


async def test_output_alone_streams_nothing() -> None:
    services = await build_sample_services()
    async with aclosing(stream_operation(services, "watch_panes", {})) as items:
        await anext(items)
        services.print_lines(PaneId(1), "more", "output")
        pushed = asyncio.ensure_future(anext(items))
        for _ in range(20):
            await let_tasks_run()
            await services.clock.advance(0.5)
        assert not pushed.done()
        services.start_command(PaneId(1), "make")
        update = await _take_next_of(services, pushed)
    assert [brief.command_line for brief in update.panes] == ["make"]


async def _take_next_of(services: FakeServices, pushed: "asyncio.Future[Any]") -> Any:
    for _ in range(20):
        await let_tasks_run()
        await services.clock.advance(0.5)
    return await pushed


async def test_a_slow_viewer_gets_the_newest_rows_and_none_in_between() -> None:
    services = await build_sample_services(op="watch")
    async with aclosing(stream_operation(services, "watch_panes", {})) as items:
        await anext(items)
        for _ in range(300):
            services.agents.set_state(ASKING_PANE, "running")
            services.agents.set_state(ASKING_PANE, "waiting_input")
        update = await _take_next(services, items)
    assert [(brief.id, brief.state) for brief in update.panes] == [(ASKING_PANE, "waiting_input")]


async def test_rows_are_printed_one_per_line() -> None:
    answered = await run_command(await build_sample_services(op="watch_panes"), "watch-panes", "--once")
    assert "  5 panes\n" in answered.out
    assert "claude_code  ! waiting approval  fix the tests" in answered.out

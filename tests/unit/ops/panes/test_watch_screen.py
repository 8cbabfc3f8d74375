import asyncio
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen
from termvisor.ops.api.dispatch import stream_operation
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

PANE = PaneId(1)


async def _build_services(*rows: str) -> FakeServices:
    services = await build_sample_services()
    services.screens[PANE] = Screen(pane=PANE, rows=rows, width=20, height=len(rows))
    return services


async def _take_next(services: FakeServices, items: Any) -> Any:
    pushed = asyncio.ensure_future(anext(items))
    for _ in range(10):
        await let_tasks_run()
        await services.clock.advance(0.3)
    return await asyncio.wait_for(pushed, 5)


async def test_all_rows_come_first_then_those_that_changed() -> None:
    services = await _build_services("one", "two", "three")
    async with aclosing(stream_operation(services, "watch_screen", {"pane": "1"})) as items:
        first = await anext(items)
        services.screens[PANE] = Screen(pane=PANE, rows=("one", "2"), width=20, height=3)
        services.print_lines(PANE, "x")
        update = await _take_next(services, items)
    assert (first.is_full, [row.text for row in first.rows]) == (True, ["one", "two", "three"])
    assert (update.is_full, [(row.row, row.text) for row in update.rows]) == (False, [(1, "2"), (2, "")])


async def test_a_resized_pane_starts_with_all_rows_again_without_output() -> None:
    services = await _build_services("one", "two")
    async with aclosing(stream_operation(services, "watch_screen", {"pane": "1"})) as items:
        await anext(items)
        services.screens[PANE] = replace(services.screens[PANE], width=40)
        update = await _take_next(services, items)
    assert (update.is_full, update.width, len(update.rows)) == (True, 40, 2)


async def test_a_moved_cursor_is_streamed_without_rows() -> None:
    services = await _build_services("one")
    async with aclosing(stream_operation(services, "watch_screen", {"pane": "1"})) as items:
        await anext(items)
        services.screens[PANE] = replace(services.screens[PANE], cursor_x=3)
        update = await _take_next(services, items)
    assert (update.cursor_x, update.rows) == (3, ())


async def test_viewers_of_a_pane_share_one_capture() -> None:
    services = await _build_services("one")
    captures = 0
    capture_screen = services.panes.capture_screen

    async def count_capture(*args: Any, **options: Any) -> Screen:
        nonlocal captures
        captures += 1
        return await capture_screen(*args, **options)

    services.panes.capture_screen = count_capture  # type: ignore[method-assign]
    streams = [stream_operation(services, "watch_screen", {"pane": "1"}) for _ in range(8)]
    firsts = [asyncio.ensure_future(anext(stream)) for stream in streams]
    await let_tasks_run()
    await services.clock.advance(1)
    assert [len((await first).rows) for first in firsts] == [1] * 8
    for stream in streams:
        await stream.aclose()
    # The first viewer gets its own; seven that came while it was taken share the next one.
    assert captures == 2


async def test_a_pane_that_does_not_exist_is_an_error() -> None:
    answered = await run_command(await build_sample_services(), "robot", "watch-screen", "99", "--once")
    assert answered.status == 4

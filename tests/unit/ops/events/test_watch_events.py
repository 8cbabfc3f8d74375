import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from termvisor.ops.api.dispatch import Caller, answer, stream
from termvisor.ops.events.list_events import EventItem
from termvisor.testing.asking import ask, lively
from termvisor.testing.world import MemoryWorld, settled


async def _next(items: AsyncIterator[object]) -> EventItem:
    item = await anext(items)
    assert isinstance(item, EventItem)
    return item


async def test_without_a_cursor_it_begins_with_the_next_event() -> None:
    world = await lively()
    async with asyncio.TaskGroup() as group, aclosing(stream(world, "watch_events", {})) as items:
        first = group.create_task(_next(items))
        await settled()
        world.happen("alert", what="fire")
        assert (await first).data == {"what": "fire"}


async def test_after_a_break_it_resumes_without_loss_or_doubling() -> None:
    world = await lively()
    async with aclosing(stream(world, "watch_events", {"since_cursor": "1"})) as items:
        heard = [(await _next(items)).cursor for _ in range(2)]
    world.happen("alert")
    async with aclosing(stream(world, "watch_events", {"since_cursor": heard[-1]})) as items:
        heard += [(await _next(items)).cursor for _ in range(2)]
    assert heard == ["2", "3", "4", "5"]


async def test_a_burst_larger_than_any_queue_is_told_whole() -> None:
    world = MemoryWorld()
    async with aclosing(stream(world, "watch_events", {"since_cursor": "0"})) as items:
        for _ in range(3000):
            world.happen("alert")
        assert [(await _next(items)).cursor for _ in range(3000)] == [str(number) for number in range(1, 3001)]


async def test_once_tells_what_is_there_and_ends() -> None:
    answered = await ask(await lively(), "watch-events", "--since-cursor", "1", "--once", "--json")
    assert [item["cursor"] for item in answered.items] == ["2", "3", "4"]
    assert answered.status == 0


async def test_what_is_there_begins_with_the_oldest_that_is_kept() -> None:
    world = await lively()
    world.history.forgotten = 2
    assert [item["cursor"] for item in (await ask(world, "robot", "watch-events", "--once")).items] == ["3", "4"]


async def test_who_waits_for_something_rare_outlives_the_events_it_passed_over() -> None:
    world = await lively()
    wanted = {"since_cursor": "1", "kind": "server_found"}
    async with asyncio.TaskGroup() as group, aclosing(stream(world, "watch_events", wanted)) as items:
        found = group.create_task(_next(items))
        await settled()
        world.history.forgotten = 4
        world.happen("alert", what="another")
        await settled()
        world.happen("server_found", socket="/s")
        assert (await found).cursor == "6"


async def test_kind_and_pane_narrow_it() -> None:
    world = await lively()
    kinds = (await ask(world, "robot", "watch-events", "--once", "--kind", "pane_gone")).items
    panes = (await ask(world, "robot", "watch-events", "--once", "--pane", "1")).items
    assert [item["kind"] for item in kinds] == ["pane_gone"]
    assert [item["cursor"] for item in panes] == ["2", "3"]


async def test_each_event_is_written_at_once() -> None:
    world = await lively()
    caller = Caller(argv=("watch-events", "--since-cursor", "1"), is_robot=False)
    async with aclosing(answer(world, caller)) as pieces:
        assert await anext(pieces) == b"2  2026-01-01T12:00:00.000Z  1  pane_appeared  session=work\n"


async def test_an_invalid_cursor_is_an_error_line_with_its_status() -> None:
    answered = await ask(await lively(), "robot", "watch-events", "--since-cursor", "x")
    assert (answered.items[0]["error"]["code"], answered.status) == ("invalid_cursor", 2)

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

from termvisor.ops.api.dispatch import CommandContext, dispatch_command_line, stream_operation
from termvisor.ops.events._event_item import EventItem
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def _next(items: AsyncIterator[object]) -> EventItem:
    item = await anext(items)
    assert isinstance(item, EventItem)
    return item


async def test_without_a_cursor_the_stream_starts_with_the_next_event() -> None:
    services = await build_sample_services()
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(services, "watch_events", {})) as items:
        first = group.create_task(_next(items))
        await let_tasks_run()
        services.add_event("alert", what="fire")
        assert (await first).data == {"what": "fire"}


async def test_a_stream_resumes_from_its_cursor_without_loss_or_duplicates() -> None:
    services = await build_sample_services()
    async with aclosing(stream_operation(services, "watch_events", {"since_cursor": "1"})) as items:
        cursors = [(await _next(items)).cursor for _ in range(2)]
    services.add_event("alert")
    async with aclosing(stream_operation(services, "watch_events", {"since_cursor": cursors[-1]})) as items:
        cursors += [(await _next(items)).cursor for _ in range(2)]
    assert cursors == ["2", "3", "4", "5"]


async def test_a_burst_larger_than_the_queue_is_streamed_completely() -> None:
    services = FakeServices()
    async with aclosing(stream_operation(services, "watch_events", {"since_cursor": "0"})) as items:
        for _ in range(3000):
            services.add_event("alert")
        assert [(await _next(items)).cursor for _ in range(3000)] == [str(number) for number in range(1, 3001)]


async def test_a_limit_ends_the_stream_after_so_many_events() -> None:
    result = await run_command(await build_sample_services(), "robot", "watch-events", "--since-cursor=1", "--limit=2")
    assert ([item["cursor"] for item in result.items], result.status) == (["2", "3"], 0)


async def test_a_timeout_ends_the_stream_without_an_error() -> None:
    services = await build_sample_services()
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "watch-events", "--timeout", "5"))
        await services.clock.wait_until_asleep()
        services.add_event("alert", what="fire")
        await let_tasks_run()
        await services.clock.advance(5)
    assert ([item["kind"] for item in call.result().items], call.result().status) == (["alert"], 0)


async def test_once_prints_the_stored_events_and_exits() -> None:
    result = await run_command(await build_sample_services(), "watch-events", "--since-cursor", "1", "--once", "--json")
    assert [item["cursor"] for item in result.items] == ["2", "3", "4"]
    assert result.status == 0


async def test_once_starts_with_the_oldest_stored_event() -> None:
    services = await build_sample_services()
    services.run_sql("DELETE FROM event WHERE id <= 2")
    assert [item["cursor"] for item in (await run_command(services, "robot", "watch-events", "--once")).items] == [
        "3",
        "4",
    ]


async def test_a_watcher_of_a_rare_kind_survives_retention() -> None:
    services = await build_sample_services()
    wanted = {"since_cursor": "1", "kind": "server_found"}
    async with asyncio.TaskGroup() as group, aclosing(stream_operation(services, "watch_events", wanted)) as items:
        found = group.create_task(_next(items))
        await let_tasks_run()
        services.run_sql("DELETE FROM event WHERE id <= 4")
        services.add_event("alert", what="another")
        await let_tasks_run()
        services.add_event("server_found", socket="/s")
        assert (await found).cursor == "6"


async def test_events_are_filtered_by_kind_and_pane() -> None:
    services = await build_sample_services()
    kinds = (await run_command(services, "robot", "watch-events", "--once", "--kind", "pane_gone")).items
    panes = (await run_command(services, "robot", "watch-events", "--once", "--pane", "1")).items
    assert [item["kind"] for item in kinds] == ["pane_gone"]
    assert [item["cursor"] for item in panes] == ["2", "3"]


async def test_each_event_is_written_at_once() -> None:
    services = await build_sample_services()
    caller = CommandContext(argv=("watch-events", "--since-cursor", "1"), is_robot=False)
    async with aclosing(dispatch_command_line(services, caller)) as pieces:
        assert await anext(pieces) == b"2  2026-01-01T12:00:00.000Z  1  pane_appeared  session=work\n"


async def test_an_invalid_cursor_is_an_error_line_with_its_status() -> None:
    result = await run_command(await build_sample_services(), "robot", "watch-events", "--since-cursor", "x")
    assert (result.items[0]["error"]["code"], result.status) == ("invalid_cursor", 2)


async def test_instants_in_the_data_of_an_event_are_iso_8601() -> None:
    services = FakeServices()
    services.add_event("state_changed", None, resets_at=services.clock.now(), subtasks=2)
    (item,) = (await run_command(services, "robot", "watch-events", "--once")).items
    assert item["data"] == {"resets_at": "2026-01-01T12:00:00.000Z", "subtasks": 2}

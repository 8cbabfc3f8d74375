import asyncio

import pytest

from termvisor.clock import NS
from termvisor.errors import InvalidCursor
from termvisor.model.terminal.search_query import SearchQuery
from termvisor.testing.fake_clock import NOON, FakeClock, let_tasks_run
from termvisor.testing.fake_services import FakeServices, build_shell_facts


async def test_time_moves_only_by_advance() -> None:
    clock = FakeClock()
    sleeping = asyncio.create_task(clock.sleep(5))
    await clock.wait_until_asleep()
    await clock.advance(4.5)
    assert not sleeping.done()
    await clock.advance(0.5)
    assert sleeping.done()
    assert (clock.now(), clock.monotonic()) == (NOON + 5 * NS, 5.0)


async def test_lines_are_numbered_and_paged_like_the_real_service() -> None:
    services = FakeServices()
    pane = services.add_pane(build_shell_facts()).id
    services.print_lines(pane, "a", "b", "c", "d")
    assert [line.text for line in await services.history.list_lines(pane, limit=2)] == ["c", "d"]
    assert [line.text for line in await services.history.list_lines(pane, after=1, limit=2)] == ["b", "c"]
    assert [line.text for line in await services.history.list_lines(pane, after=0, before=3)] == ["a", "b"]


async def test_events_are_stored_and_published() -> None:
    services = FakeServices()
    pane = services.add_pane(build_shell_facts()).id
    with services.updates.subscribe_events() as events, services.updates.subscribe_output() as output:
        services.print_lines(pane, "x")
        services.remove_pane(pane)
        assert ([event.kind for event in events.drain()], output.drain()) == (["pane_gone"], [pane])
    assert await services.panes.list_panes() == []
    assert [view.id for view in await services.panes.list_panes(include_gone=True)] == [pane]


async def test_a_foreign_event_cursor_is_rejected() -> None:
    with pytest.raises(InvalidCursor):
        await FakeServices().history.list_events(after=1)


async def test_search_finds_lines_with_every_word() -> None:
    services = FakeServices()
    services.print_lines(services.add_pane(build_shell_facts()).id, "red apple", "green apple")
    found = await services.history.search(SearchQuery(text="Apple red"))
    assert [(hit.line.text, hit.spans) for hit in found.hits] == [("red apple", ((0, 3), (4, 9)))]


async def test_let_tasks_run_runs_other_tasks() -> None:
    done: list[int] = []

    async def work() -> None:
        await asyncio.sleep(0)
        done.append(1)

    task = asyncio.create_task(work())
    await let_tasks_run()
    assert (done, task.done()) == ([1], True)

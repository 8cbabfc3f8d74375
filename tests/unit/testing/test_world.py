import asyncio

import pytest

from termvisor.clock import NS
from termvisor.errors import InvalidCursor
from termvisor.model.terminal.search_query import Question
from termvisor.testing.world import NOON, MemoryWorld, StillClock, settled, shell


async def test_time_stands_still_until_it_is_told_to_go_on() -> None:
    clock = StillClock()
    sleeping = asyncio.create_task(clock.sleep(5))
    await clock.until_asleep()
    await clock.advance(4.5)
    assert not sleeping.done()
    await clock.advance(0.5)
    assert sleeping.done()
    assert (clock.now(), clock.monotonic()) == (NOON + 5 * NS, 5.0)


async def test_lines_are_numbered_and_paged_as_the_protocol_says() -> None:
    world = MemoryWorld()
    pane = world.pane(shell()).id
    world.say(pane, "a", "b", "c", "d")
    assert [line.text for line in await world.history.lines(pane, limit=2)] == ["c", "d"]
    assert [line.text for line in await world.history.lines(pane, after=1, limit=2)] == ["b", "c"]
    assert [line.text for line in await world.history.lines(pane, after=0, before=3)] == ["a", "b"]


async def test_what_happens_is_stored_and_told() -> None:
    world = MemoryWorld()
    pane = world.pane(shell()).id
    with world.news.events() as events, world.news.output() as output:
        world.say(pane, "x")
        world.end(pane)
        assert ([event.kind for event in events.drain()], output.drain()) == (["pane_gone"], [pane])
    assert await world.fleet.panes() == []
    assert [view.id for view in await world.fleet.panes(gone=True)] == [pane]
    assert world.news.listeners == 0


async def test_a_foreign_event_cursor_is_refused() -> None:
    with pytest.raises(InvalidCursor):
        await MemoryWorld().history.events(after=1)


async def test_search_finds_lines_with_every_word() -> None:
    world = MemoryWorld()
    world.say(world.pane(shell()).id, "red apple", "green apple")
    found = await world.history.search(Question(text="Apple red"))
    assert [(hit.line.text, hit.spans) for hit in found.hits] == [("red apple", ((0, 3), (4, 9)))]


async def test_settled_lets_others_run() -> None:
    done: list[int] = []

    async def work() -> None:
        await asyncio.sleep(0)
        done.append(1)

    task = asyncio.create_task(work())
    await settled()
    assert (done, task.done()) == ([1], True)

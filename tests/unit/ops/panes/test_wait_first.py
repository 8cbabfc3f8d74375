import asyncio

from termvisor.bus import Bus
from termvisor.ops.panes._wait_first import first
from termvisor.testing.world import StillClock, settled


async def test_news_come_before_the_time_is_up() -> None:
    clock, bus = StillClock(), Bus[str]()
    with bus.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(first(clock, 5.0, news))
            await clock.until_asleep()
            bus.publish("hello")
        assert waiting.result() == ["hello"]


async def test_when_nothing_comes_the_time_is_up() -> None:
    clock, bus = StillClock(), Bus[str]()
    with bus.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(first(clock, 5.0, news))
            await clock.until_asleep()
            await clock.advance(4)
            assert not waiting.done()
            await clock.advance(1)
        assert waiting.result() == []


async def test_a_cancelled_wait_leaves_no_task_behind() -> None:
    clock = StillClock()
    waiting = asyncio.create_task(first(clock, 5.0))
    await clock.until_asleep()
    waiting.cancel()
    await settled()
    assert len(asyncio.all_tasks()) == 1

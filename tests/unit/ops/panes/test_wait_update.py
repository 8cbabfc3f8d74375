import asyncio

from termvisor.bus import Bus
from termvisor.ops.panes._wait_update import wait_for_update
from termvisor.testing.fake_services import FakeClock, let_tasks_run


async def test_news_come_before_the_time_is_up() -> None:
    clock, bus = FakeClock(), Bus[str]()
    with bus.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(wait_for_update(clock, 5.0, news))
            await clock.wait_until_asleep()
            bus.publish("hello")
        assert waiting.result() == ["hello"]


async def test_when_nothing_comes_the_time_is_up() -> None:
    clock, bus = FakeClock(), Bus[str]()
    with bus.subscribe() as news:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(wait_for_update(clock, 5.0, news))
            await clock.wait_until_asleep()
            await clock.advance(4)
            assert not waiting.done()
            await clock.advance(1)
        assert waiting.result() == []


async def test_a_cancelled_wait_leaves_no_task_behind() -> None:
    clock = FakeClock()
    waiting = asyncio.create_task(wait_for_update(clock, 5.0))
    await clock.wait_until_asleep()
    waiting.cancel()
    await let_tasks_run()
    assert len(asyncio.all_tasks()) == 1

"""Publish/subscribe: bounded queues, dropped items, waiting with a timeout."""

import asyncio

from termvisor.bus import Bus, wait_for_update
from termvisor.testing.fake_clock import FakeClock, let_tasks_run


async def test_every_subscriber_gets_the_items_in_order() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as one, bus.subscribe() as other:
        for number in range(3):
            bus.publish(number)
        assert [await one.get() for _ in range(3)] == [0, 1, 2]
        assert other.drain() == [0, 1, 2]


async def test_a_waiting_subscriber_wakes_on_publish() -> None:
    bus: Bus[str] = Bus()
    with bus.subscribe() as listener:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(listener.get())
            await asyncio.sleep(0)
            bus.publish("hello")
        assert waiting.result() == "hello"


async def test_a_slow_subscriber_keeps_the_newest_and_counts_dropped_items() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe(queue_size=2) as slow, bus.subscribe(queue_size=10) as quick:
        for number in range(5):
            bus.publish(number)
        assert (slow.drain(), slow.dropped_count) == ([3, 4], 3)
        assert (quick.drain(), quick.dropped_count) == ([0, 1, 2, 3, 4], 0)


async def test_an_ended_subscription_gets_nothing() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as listener:
        bus.publish(1)
    bus.publish(2)
    assert listener.drain() == [1]


async def test_draining_an_empty_queue_keeps_the_subscription_usable() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as listener:
        bus.publish(1)
        assert (listener.drain(), listener.drain()) == ([1], [])
        bus.publish(2)
        assert await listener.get() == 2


async def test_publishing_continues_when_a_subscriber_leaves() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as stays:
        with bus.subscribe():
            bus.publish(1)
        bus.publish(2)
        assert stays.drain() == [1, 2]


async def test_filtered_items_neither_wake_nor_count_as_dropped() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe(queue_size=2) as listener:
        listener.is_wanted = lambda number: number > 3
        for number in range(6):
            bus.publish(number)
        assert (listener.drain(), listener.dropped_count) == ([4, 5], 0)


async def test_a_wait_returns_the_item_that_arrives_before_the_timeout() -> None:
    clock, bus = FakeClock(), Bus[str]()
    with bus.subscribe() as subscription:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(wait_for_update(clock, 5.0, subscription))
            await clock.wait_until_asleep()
            bus.publish("hello")
        assert waiting.result() == ["hello"]


async def test_a_wait_returns_nothing_after_the_timeout() -> None:
    clock, bus = FakeClock(), Bus[str]()
    with bus.subscribe() as subscription:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(wait_for_update(clock, 5.0, subscription))
            await clock.wait_until_asleep()
            await clock.advance(4)
            assert not waiting.done()
            await clock.advance(1)
        assert waiting.result() == []


async def test_a_cancelled_wait_leaves_no_task() -> None:
    clock = FakeClock()
    waiting = asyncio.create_task(wait_for_update(clock, 5.0))
    await clock.wait_until_asleep()
    waiting.cancel()
    await let_tasks_run()
    assert len(asyncio.all_tasks()) == 1

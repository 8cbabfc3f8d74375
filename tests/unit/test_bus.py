"""News: told to whoever listens now; a slow listener loses the oldest and knows how many."""

import asyncio

from termvisor.bus import Bus


async def test_every_listener_hears_what_is_published_in_order() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as one, bus.subscribe() as other:
        for number in range(3):
            bus.publish(number)
        assert [await one.get() for _ in range(3)] == [0, 1, 2]
        assert other.drain() == [0, 1, 2]


async def test_a_waiting_listener_wakes_when_there_is_news() -> None:
    bus: Bus[str] = Bus()
    with bus.subscribe() as listener:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(listener.get())
            await asyncio.sleep(0)
            bus.publish("hello")
        assert waiting.result() == "hello"


async def test_a_slow_listener_keeps_the_newest_and_counts_what_it_missed() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe(queue_size=2) as slow, bus.subscribe(queue_size=10) as quick:
        for number in range(5):
            bus.publish(number)
        assert (slow.drain(), slow.dropped_count) == ([3, 4], 3)
        assert (quick.drain(), quick.dropped_count) == ([0, 1, 2, 3, 4], 0)


async def test_who_has_left_hears_nothing_more() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as listener:
        bus.publish(1)
    bus.publish(2)
    assert listener.drain() == [1]


async def test_draining_nothing_gives_nothing_and_the_next_news_still_wakes() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as listener:
        bus.publish(1)
        assert (listener.drain(), listener.drain()) == ([1], [])
        bus.publish(2)
        assert await listener.get() == 2


async def test_telling_goes_on_when_a_listener_leaves_meanwhile() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe() as stays:
        with bus.subscribe():
            bus.publish(1)
        bus.publish(2)
        assert stays.drain() == [1, 2]


async def test_who_wants_little_is_neither_woken_for_the_rest_nor_misses_it() -> None:
    bus: Bus[int] = Bus()
    with bus.subscribe(queue_size=2) as listener:
        listener.is_wanted = lambda number: number > 3
        for number in range(6):
            bus.publish(number)
        assert (listener.drain(), listener.dropped_count) == ([4, 5], 0)

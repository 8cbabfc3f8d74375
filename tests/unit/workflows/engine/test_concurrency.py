"""How many runs work at once."""

import asyncio

from termvisor.testing.world import settled
from termvisor.workflows.engine.concurrency import Seat, Slots


async def test_places_are_given_in_the_order_in_which_they_were_asked_for():
    slots, came = Slots(lambda: 1), []

    async def work(name: str) -> None:
        seat = Seat(slots)
        await seat.take()
        came.append(name)
        await settled()
        seat.rest()

    async with asyncio.TaskGroup() as group:
        for name in "abcd":
            group.create_task(work(name))
    assert came == list("abcd")
    assert slots.working == 0


async def test_a_seat_is_taken_once_and_given_back_once():
    slots = Slots(lambda: 2)
    seat = Seat(slots)
    for _ in range(2):
        await seat.take()
    assert slots.working == 1
    for _ in range(2):
        seat.rest()
    assert slots.working == 0
    seat.press_in()
    seat.press_in()
    assert slots.working == 1


async def test_who_gives_up_waiting_takes_no_place():
    slots = Slots(lambda: 1)
    first, second, third = Seat(slots), Seat(slots), Seat(slots)
    await first.take()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(second.take())
        next_one = group.create_task(third.take())
        await settled()
        waiting.cancel()
        await settled()
        first.rest()
        await next_one
    assert slots.working == 1


async def test_a_place_that_came_in_the_moment_of_giving_up_goes_to_the_next():
    slots = Slots(lambda: 1)
    first, second = Seat(slots), Seat(slots)
    await first.take()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(second.take())
        await settled()
        first.rest()
        waiting.cancel()
    assert slots.working == 0

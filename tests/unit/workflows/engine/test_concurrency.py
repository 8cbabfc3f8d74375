"""How many runs work at once."""

import asyncio

from termvisor.testing.fake_services import let_tasks_run
from termvisor.workflows.engine.concurrency import RunSlot, RunSlots


async def test_places_are_given_in_the_order_in_which_they_were_asked_for():
    slots, came = RunSlots(lambda: 1), []

    async def work(name: str) -> None:
        seat = RunSlot(slots)
        await seat.acquire()
        came.append(name)
        await let_tasks_run()
        seat.release()

    async with asyncio.TaskGroup() as group:
        for name in "abcd":
            group.create_task(work(name))
    assert came == list("abcd")
    assert slots.in_use == 0


async def test_a_seat_is_taken_once_and_given_back_once():
    slots = RunSlots(lambda: 2)
    seat = RunSlot(slots)
    for _ in range(2):
        await seat.acquire()
    assert slots.in_use == 1
    for _ in range(2):
        seat.release()
    assert slots.in_use == 0
    seat.acquire_over_limit()
    seat.acquire_over_limit()
    assert slots.in_use == 1


async def test_who_gives_up_waiting_takes_no_place():
    slots = RunSlots(lambda: 1)
    first, second, third = RunSlot(slots), RunSlot(slots), RunSlot(slots)
    await first.acquire()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(second.acquire())
        next_one = group.create_task(third.acquire())
        await let_tasks_run()
        waiting.cancel()
        await let_tasks_run()
        first.release()
        await next_one
    assert slots.in_use == 1


async def test_a_place_that_came_in_the_moment_of_giving_up_goes_to_the_next():
    slots = RunSlots(lambda: 1)
    first, second = RunSlot(slots), RunSlot(slots)
    await first.acquire()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(second.acquire())
        await let_tasks_run()
        first.release()
        waiting.cancel()
    assert slots.in_use == 0

"""Slots for concurrent runs."""

import asyncio

from termvisor.testing.fake_clock import let_tasks_run
from termvisor.workflows.engine.concurrency import RunSlot, RunSlots


async def test_slots_are_assigned_in_the_order_of_the_requests():
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


async def test_a_slot_is_acquired_once_and_released_once():
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


async def test_a_cancelled_waiter_gets_no_slot():
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


async def test_a_slot_assigned_at_the_cancellation_goes_to_the_next_waiter():
    slots = RunSlots(lambda: 1)
    first, second = RunSlot(slots), RunSlot(slots)
    await first.acquire()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(second.acquire())
        await let_tasks_run()
        first.release()
        waiting.cancel()
    assert slots.in_use == 0

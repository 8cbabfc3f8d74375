"""Slots for concurrent runs."""

import asyncio

import pytest
from msgspec.structs import replace

from termvisor.model.workflow import RunId, RunStep
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.engine.run_limits import (
    CRASH_LOOP_REASON,
    MAX_DAEMON_CRASHES,
    RunSlot,
    RunSlots,
    is_crash_looping,
)
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import build_manual_run
from tests.unit.workflows.running_engine import advance_time, run_engine


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


async def run_with_daemon_crashes(work, daemons: int) -> WorkflowScene:
    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
    for _ in range(daemons):
        async with run_engine(scene):
            await advance_time(scene)
    return scene


async def thinks(context) -> None:
    await context.note("x")
    await asyncio.Event().wait()


async def test_a_run_between_two_steps_is_paused_after_three_daemon_crashes_and_can_be_resumed():
    scene = await run_with_daemon_crashes(thinks, 2)
    assert scene.runs.stored_runs[RunId(1)].status == "running"
    async with run_engine(scene) as engine:
        await advance_time(scene)
        run = scene.runs.stored_runs[RunId(1)]
        assert (run.status, run.why) == ("paused", f"held: {CRASH_LOOP_REASON}")
        await engine.resume(RunId(1), "human:1")
        await advance_time(scene)
        assert scene.runs.stored_runs[RunId(1)].status == "running"


async def test_a_waiting_run_continues_after_many_daemon_crashes():
    async def waits(context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=6000))

    scene = await run_with_daemon_crashes(waits, 9)
    assert scene.runs.stored_runs[RunId(1)].status == "running"


async def test_signals_of_other_senders_do_not_count_as_crashes():
    scene = await run_with_daemon_crashes(thinks, 0)
    async with run_engine(scene) as engine:
        await advance_time(scene)
        for _ in range(3):
            await engine.send_signal(RunId(1), "daemon_ended", "1", "human:1")
    async with run_engine(scene):
        await advance_time(scene)
        assert scene.runs.stored_runs[RunId(1)].status == "running"


@pytest.mark.parametrize(
    ("status", "ended_at", "is_counted"),
    [("running", 2, True), ("running", None, False), ("waiting", 2, False), ("paused", 2, False)],
)
async def test_only_a_daemon_that_ended_between_two_steps_of_a_run_counts_as_crashed(status, ended_at, is_counted):
    scene = WorkflowScene()
    run = await scene.runs.add(replace(build_manual_run(scene), status=status))
    steps = [RunStep(number=0, kind="note", at=1, ended_at=ended_at, status="completed")]
    answers = [await is_crash_looping(scene.runs, run, steps, 3) for _ in range(MAX_DAEMON_CRASHES)]
    assert answers == [False] * (MAX_DAEMON_CRASHES - 1) + [is_counted]
    assert len(await scene.runs.list_signals(run.id)) == MAX_DAEMON_CRASHES * is_counted
    assert await is_crash_looping(scene.runs, run, [], 3) is False


async def test_a_released_slot_goes_to_one_waiter_and_a_raised_limit_to_more():
    limit = 1
    slots = RunSlots(lambda: limit)
    first, second, third = RunSlot(slots), RunSlot(slots), RunSlot(slots)
    await first.acquire()
    waiting = [asyncio.create_task(slot.acquire()) for slot in (second, third)]
    await let_tasks_run()
    first.release()
    await let_tasks_run()
    assert ([task.done() for task in waiting], slots.in_use) == ([True, False], 1)
    late = asyncio.create_task(first.acquire())
    await let_tasks_run()
    limit = 3
    second.release()
    await let_tasks_run()
    assert ([task.done() for task in (*waiting, late)], slots.in_use) == ([True, True, True], 2)


async def test_a_cancelled_wait_for_a_slot_raises():
    slots = RunSlots(lambda: 0)
    task = asyncio.create_task(slots.acquire())
    await let_tasks_run()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert slots.in_use == 0


async def test_a_new_caller_does_not_overtake_a_waiter():
    limit = 1
    slots = RunSlots(lambda: limit)
    await slots.acquire()
    waiting = asyncio.create_task(slots.acquire())
    await let_tasks_run()
    limit = 2
    late = asyncio.create_task(slots.acquire())
    await let_tasks_run()
    assert (waiting.done(), late.done()) == (False, False)
    slots.release()
    await let_tasks_run()
    assert (waiting.done(), late.done(), slots.in_use) == (True, True, 2)

"""Execution of a run: its end is a step, its cleanup runs once."""

import asyncio
from contextlib import suppress

import pytest

from termvisor.errors import StorageError
from termvisor.model.workflow import RunId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.engine.journal_replay import END_STEP_KIND
from termvisor.workflows.engine.run_task import is_task_cancelled
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import build_manual_run
from tests.unit.workflows.running_engine import advance_time, run_engine, wait_until_ended


async def test_a_diverging_run_fails_with_the_step_and_executes_nothing():
    async def one(context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def other(context) -> None:
        try:
            await context.send("hello")
        except Exception:
            await context.keys("C-c")

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=one))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
    scene.registry = WorkflowScene(Workflow(name="refresh", summary="", run=other)).registry
    async with run_engine(scene):
        run = await wait_until_ended(scene)
    assert run.status == "failed"
    assert run.why.startswith("step 0 was wait_for signal")
    assert scene.gate.executed == []


async def test_a_run_is_repeated_after_a_storage_error():
    async def work(context) -> str:
        await context.send("hello")
        return "done"

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work))
    real, full = scene.runs.save_step, [StorageError("disk full")] * 2

    async def put(run, step) -> None:
        if full:
            raise full.pop()
        await real(run, step)

    scene.runs.save_step = put
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
    assert run.status == "completed"
    assert len(scene.gate.executed) == 1


async def test_a_failed_cleanup_does_not_change_the_end_and_the_work_is_not_repeated():
    worked = []

    async def work(context) -> str:
        worked.append(1)
        await context.note("x")
        return "done"

    async def cleanup(context) -> None:
        await context.keys("C-l")
        raise KeyError("mine")

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work, cleanup=cleanup))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
    assert (run.status, worked) == ("completed", [1])
    assert [step.kind for step in await scene.runs.list_steps(RunId(1))] == ["note", END_STEP_KIND, "act"]


async def test_a_run_ends_at_its_work_timeout():
    async def slow(context) -> None:
        for _ in range(9):
            await context.wait_for(WaitFor(quiet=8.0, timeout=60))
            scene.services.print_lines(scene.pane, "x")

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=slow, timeout=30.0))
    scene.services.print_lines(scene.pane, "x")
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
    assert run.status == "failed"
    assert "exceeded its timeout" in run.why


@pytest.mark.parametrize(
    ("raised", "why"),
    [
        (KeyboardInterrupt("mine"), "KeyboardInterrupt: mine"),
        (SystemExit(3), "SystemExit: 3"),
        (asyncio.CancelledError("mine"), "CancelledError: mine"),
    ],
)
async def test_a_workflow_that_raises_system_exit_ends_only_its_own_run(raised: BaseException, why: str):
    async def work(context) -> None:
        await context.note("x")
        raise raised

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
        assert (run.status, run.why) == ("failed", why)
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene, 2)
    assert run.status == "failed"


async def test_a_workflow_returns_a_text():
    async def work(context) -> dict:
        return {"not": "a text"}

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
    assert run.status == "failed"
    assert run.why == "TypeError: a workflow returns a text or None, not dict"


async def test_work_that_ignores_its_cancellation_does_not_keep_its_run_open(monkeypatch):
    monkeypatch.setattr("termvisor.workflows.engine.run_task.CANCEL_GRACE_S", 0.01)

    async def work(context) -> None:
        while not let_go.is_set():
            with suppress(BaseException):
                await let_go.wait()

    let_go = asyncio.Event()
    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
        await engine.cancel(RunId(1), "enough", "human:1")
        try:
            run = await wait_until_ended(scene)
        finally:
            let_go.set()
    assert (run.status, run.why) == ("cancelled", "enough")


async def test_work_that_catches_every_error_is_ended_and_other_runs_continue():
    async def one(context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    async def ignore_cancellation(context) -> None:
        while True:
            with suppress(Exception):
                await context.note("again")

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=one))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
    scene.registry = WorkflowScene(Workflow(name="refresh", summary="", run=ignore_cancellation)).registry
    async with run_engine(scene):
        await advance_time(scene, 10.0, times=3)
        run = await scene.runs.find(RunId(1))
    assert run.status == "failed"
    assert run.why.startswith("step 0 was wait_for signal")


async def test_an_endless_loop_ends(monkeypatch):
    monkeypatch.setattr("termvisor.workflows.engine.journaled_calls.MAX_STEPS", 20)

    async def endless(context) -> None:
        while True:
            await context.now()

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=endless))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
    assert (run.status, run.why) == ("failed", "a run ends after 20 steps")
    assert len(await scene.runs.list_steps(RunId(1))) == 21


async def test_a_run_whose_end_cannot_be_stored_ends_once_the_store_works():
    async def work(context) -> str:
        await context.send("hello")
        return "done"

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work))
    real, full = scene.runs.save_step, [StorageError("disk full")] * 2

    async def save_step(run, step) -> None:
        if step.kind == END_STEP_KIND and full:
            raise full.pop()
        await real(run, step)

    scene.runs.save_step = save_step
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        run = await wait_until_ended(scene)
    assert (run.status, run.why, full) == ("completed", "done", [])
    assert len(scene.gate.executed) == 1


async def test_a_cleanup_that_is_killed_between_two_actions_does_each_once():
    async def work(context) -> None:
        await context.note("x")

    async def cleanup(context) -> None:
        await context.keys("C-l")
        await context.wait_for(WaitFor(signal="go", timeout=600))
        await context.keys("C-r")

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work, cleanup=cleanup))
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene)
    async with run_engine(scene) as engine:
        await engine.send_signal(RunId(1), "go", "", "human:1")
        run = await wait_until_ended(scene)
    assert run.status == "completed"
    assert [action.keys for action in scene.gate.executed] == [("C-l",), ("C-r",)]
    steps = [(step.kind, step.status) for step in await scene.runs.list_steps(RunId(1))]
    assert steps == [(kind, "completed") for kind in ("note", END_STEP_KIND, "act", "wait_for", "act")]


async def test_a_task_is_cancelled_only_from_outside():
    assert not is_task_cancelled(asyncio.CancelledError())

    async def check() -> tuple[bool, bool]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            return is_task_cancelled(error), is_task_cancelled(ValueError())
        return False, False

    task = asyncio.create_task(check())
    await asyncio.sleep(0)
    task.cancel()
    assert await task == (True, False)


async def test_a_waiting_run_sleeps():
    async def waits(context) -> None:
        await context.wait_for(WaitFor(signal="go", timeout=600))

    scene = WorkflowScene(Workflow(name="refresh", summary="", run=waits))
    real, sleeps = scene.clock.sleep, []

    async def count_sleep(seconds: float) -> None:
        sleeps.append(seconds)
        await real(seconds)

    scene.clock.sleep = count_sleep
    async with run_engine(scene) as engine:
        await engine.start_run(build_manual_run(scene))
        await advance_time(scene, 1.0, 5)
        assert len(sleeps) < 5, "not in a loop"

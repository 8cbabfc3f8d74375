"""A run that crashes several daemons is paused; one during which daemons merely ended is not."""

import asyncio

from termvisor.model.workflow.run import RunId
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.calls import WaitFor
from termvisor.workflows.engine.crash_loop import CRASH_LOOP_REASON
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.running_engine import advance_time, run_engine


async def lived(work, daemons: int) -> WorkflowScene:
    scene = WorkflowScene(Workflow(name="refresh", summary="", run=work))
    async with run_engine(scene) as engine:
        await engine.start_run(asked_for(scene))
        await advance_time(scene)
    for _ in range(daemons):
        async with run_engine(scene):
            await advance_time(scene)
    return scene


async def thinks(context) -> None:
    await context.note("x")
    await asyncio.Event().wait()


async def test_a_run_between_two_steps_is_paused_after_three_daemon_crashes_and_can_be_resumed():
    scene = await lived(thinks, 2)
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

    scene = await lived(waits, 9)
    assert scene.runs.stored_runs[RunId(1)].status == "running"


async def test_signals_of_other_senders_do_not_count_as_crashes():
    scene = await lived(thinks, 0)
    async with run_engine(scene) as engine:
        await advance_time(scene)
        for _ in range(3):
            await engine.send_signal(RunId(1), "daemon_ended", "1", "human:1")
    async with run_engine(scene):
        await advance_time(scene)
        assert scene.runs.stored_runs[RunId(1)].status == "running"

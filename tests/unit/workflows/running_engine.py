"""Run an engine during a test, and wait with a fake clock."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from termvisor.model.workflow import ENDED_RUN_STATUSES, Run, RunId
from termvisor.testing.fake_clock import let_tasks_run
from termvisor.testing.workflow_scene import WorkflowScene
from termvisor.workflows.engine.engine import WorkflowEngine


@asynccontextmanager
async def run_engine(scene: WorkflowScene) -> AsyncIterator[WorkflowEngine]:
    """Run the engine; at the end it stops as if by SIGKILL and stores nothing more."""
    engine = scene.build_engine()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(engine.run())
        await let_tasks_run()
        try:
            yield engine
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def advance_time(scene: WorkflowScene, seconds: float = 1.0, times: int = 1) -> None:
    for _ in range(times):
        await scene.clock.advance(seconds)
        for _ in range(5):
            await let_tasks_run()


async def wait_until_ended(scene: WorkflowScene, run_id: int = 1, seconds: float = 600.0) -> Run:
    """Advance the clock until the run has ended and return it."""
    for _ in range(int(seconds)):
        for _ in range(5):
            await let_tasks_run()
        run = scene.runs.stored_runs.get(RunId(run_id))
        if run is not None and run.status in ENDED_RUN_STATUSES:
            return run
        await scene.clock.advance(1.0)
    raise AssertionError(f"run {run_id} did not end: {scene.runs.stored_runs.get(RunId(run_id))}")

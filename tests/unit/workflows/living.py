"""A daemon's engine for as long as a test wants it, and words to wait with the clock standing still."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from termvisor.model.workflow.run import ENDED, Run, RunId
from termvisor.testing.runs import Scene
from termvisor.testing.world import settled
from termvisor.workflows.engine.engine import Engine


@asynccontextmanager
async def living(scene: Scene) -> AsyncIterator[Engine]:
    """At its end it is gone as if by SIGKILL: nothing more is stored."""
    engine = scene.engine()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(engine.run())
        await settled()
        try:
            yield engine
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def pass_time(scene: Scene, seconds: float = 1.0, times: int = 1) -> None:
    for _ in range(times):
        await scene.clock.advance(seconds)
        for _ in range(5):
            await settled()


async def ended(scene: Scene, number: int = 1, seconds: float = 600.0) -> Run:
    """The run once it is over; time goes on until then."""
    for _ in range(int(seconds)):
        for _ in range(5):
            await settled()
        run = scene.runs.kept.get(RunId(number))
        if run is not None and run.status in ENDED:
            return run
        await scene.clock.advance(1.0)
    raise AssertionError(f"run {number} did not end: {scene.runs.kept.get(RunId(number))}")

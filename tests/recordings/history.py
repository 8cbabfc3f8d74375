"""`python -m tests.recordings.history <database> <run> [<file of steps>]` prints a run's history as it is committed."""

import asyncio
import sys
from pathlib import Path

from termvisor.clock import SystemClock
from termvisor.model.workflow import RunId
from termvisor.store import Store
from termvisor.testing.recorded_runs import RecordedRun, encode_recorded_run


async def export_history(database: str, number: int, source: str) -> bytes:
    store = await Store.open(database, SystemClock())
    try:
        run = await store.workflow_runs.find(RunId(number))
        assert run is not None, f"there is no run {number}"
        return encode_recorded_run(
            RecordedRun(run=run, steps=await store.workflow_runs.list_steps(run.id), source=source)
        )
    finally:
        await store.close()


if __name__ == "__main__":
    text = Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else ""
    sys.stdout.buffer.write(asyncio.run(export_history(sys.argv[1], int(sys.argv[2]), text)))

"""`python -m tests.recordings.history <database> <run> [<file of steps>]` prints a run's history as it is committed."""

import asyncio
import sys
from pathlib import Path

from termvisor.clock import SystemClock
from termvisor.model.workflow.run import RunId
from termvisor.store import Store
from termvisor.testing.histories import History, write


async def history(database: str, number: int, source: str) -> bytes:
    store = await Store.open(database, SystemClock())
    try:
        run = await store.runs.one(RunId(number))
        assert run is not None, f"there is no run {number}"
        return write(History(run=run, steps=await store.runs.steps(run.id), source=source))
    finally:
        await store.close()


if __name__ == "__main__":
    text = Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else ""
    sys.stdout.buffer.write(asyncio.run(history(sys.argv[1], int(sys.argv[2]), text)))

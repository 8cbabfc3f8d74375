"""A real daemon process whose world is in memory: `python memory_daemon.py [serve|broken|crash|hang] [panes]`."""

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from termvisor.daemon.serve import serve
from termvisor.errors import NewerDatabase, VisorError
from termvisor.settings import Places, Settings, load, places
from termvisor.testing.world import MemoryWorld, shell
from termvisor.wire import complaint

MODE = sys.argv[1] if len(sys.argv) > 1 else "serve"
PANES = int(sys.argv[2]) if len(sys.argv) > 2 else 3


@asynccontextmanager
async def open_world(where: Places, settings: Settings) -> AsyncIterator[MemoryWorld]:
    world = MemoryWorld(where, settings)
    for number in range(1, PANES + 1):
        pane = world.pane(shell(f"%{number}", window=number, window_name=f"window-{number}", title="naïve 日本"))
        world.say(pane.id, f"hello from {number}")
    if MODE == "broken":
        raise NewerDatabase("the database is newer", hint="Upgrade.")
    if MODE == "crash":
        raise ZeroDivisionError("by accident")
    yield world


def main() -> int:
    where = places()
    try:
        serve(where, load(where), open_world)  # type: ignore[arg-type]
    except VisorError as error:
        sys.stderr.write(complaint.said(error))
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(signal.pause() if MODE == "hang" else main())

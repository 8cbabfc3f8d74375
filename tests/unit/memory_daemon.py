"""A real daemon process whose world is in memory: `memory_daemon.py [serve|broken|crash|hang] [panes] [patterns]`."""

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.daemon.run import serve
from termvisor.errors import NewerDatabase, VisorError
from termvisor.model.ids import PaneId
from termvisor.model.terminal.frame import Frame
from termvisor.protocol import error_line as complaint
from termvisor.redaction import build, use
from termvisor.settings import Places, Settings, load, places
from termvisor.testing.world import NOON, MemoryWorld, shell

MODE = sys.argv[1] if len(sys.argv) > 1 else "serve"
PANES = int(sys.argv[2]) if len(sys.argv) > 2 else 3
PATTERNS = sys.argv[3] if len(sys.argv) > 3 else None


def film(pane: PaneId) -> list[Frame]:
    """A hundred screens, one every half second, then a long pause and a last one."""
    blank = Frame(pane=pane, at=NOON, width=60, height=12, rows=("",) * 12)
    rows = [(f"\x1b[31mscreen {number}\x1b[0m of pane {pane}", *blank.rows[1:]) for number in range(101)]
    times = [*(NOON + number * NS // 2 for number in range(100)), NOON + 3600 * NS]
    return [replace(blank, at=at, rows=shown, cursor_x=7) for at, shown in zip(times, rows, strict=True)]


@asynccontextmanager
async def open_world(where: Places, settings: Settings) -> AsyncIterator[MemoryWorld]:
    world = MemoryWorld(where, settings)
    for number in range(1, PANES + 1):
        pane = world.pane(shell(f"%{number}", window=number, window_name=f"window-{number}", title="naïve 日本"))
        world.say(pane.id, f"hello from {number}")
        world.history.recording.drawn += film(pane.id) if number <= 3 else []
    if MODE == "broken":
        raise NewerDatabase("the database is newer", hint="Upgrade.")
    if MODE == "crash":
        raise ZeroDivisionError("by accident")
    yield world


def main() -> int:
    where = places()
    use(build(cache=PATTERNS))
    try:
        serve(where, load(where), open_world)  # type: ignore[arg-type]
    except VisorError as error:
        sys.stderr.write(complaint.said(error))
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(signal.pause() if MODE == "hang" else main())

"""A real daemon process with fake services: `memory_daemon.py [serve|slow|broken|crash|hang] [panes] [patterns]`."""

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec.structs import replace

from termvisor.clock import NS
from termvisor.daemon.run import run_daemon
from termvisor.errors import NewerDatabase, VisorError, format_error
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.redaction import build_rules, use_rules
from termvisor.settings import Paths, Settings, load_settings, resolve_paths
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts

MODE = sys.argv[1] if len(sys.argv) > 1 else "serve"
PANE_COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 3
PATTERN_CACHE = sys.argv[3] if len(sys.argv) > 3 else None


def build_frames(pane: PaneId) -> list[ReplayFrame]:
    """Build a hundred frames, one every half second, then a long pause and a last one."""
    blank = ReplayFrame(pane=pane, at=NOON, width=60, height=12, rows=("",) * 12)
    rows = [(f"\x1b[31mscreen {number}\x1b[0m of pane {pane}", *blank.rows[1:]) for number in range(101)]
    times = [*(NOON + number * NS // 2 for number in range(100)), NOON + 3600 * NS]
    return [replace(blank, at=at, rows=shown, cursor_x=7) for at, shown in zip(times, rows, strict=True)]


@asynccontextmanager
async def open_services(paths: Paths, settings: Settings) -> AsyncIterator[FakeServices]:
    services = FakeServices(paths, settings)
    for number in range(1, PANE_COUNT + 1):
        pane = services.add_pane(
            build_shell_facts(f"%{number}", window=number, window_name=f"window-{number}", title="naïve 日本")
        )
        services.print_lines(pane.id, f"hello from {number}")
        services.recording.stored_frames += build_frames(pane.id) if number <= 3 else []
    if MODE == "slow":
        # A start that uses CPU time, like the upgrade of a database.
        while os.times().user < 1.0:
            pass
    if MODE == "broken":
        raise NewerDatabase("the database is newer", hint="Upgrade.")
    if MODE == "crash":
        raise ZeroDivisionError("by accident")
    yield services


def main() -> int:
    where = resolve_paths()
    use_rules(build_rules(cache=PATTERN_CACHE))
    try:
        run_daemon(where, load_settings(where), open_services)  # type: ignore[arg-type]
    except VisorError as error:
        sys.stderr.write(format_error(error))
        return error.exit_status
    return 0


if __name__ == "__main__":
    sys.exit(signal.pause() if MODE == "hang" else main())

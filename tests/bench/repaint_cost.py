"""Measure how many rows are stored for panes that repaint a box on the normal screen, as agents do all day."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.bench.figure import BudgetedFigure
from tests.bench.pane_cost import are_all_captured, measure_cpu
from tests.bench.pane_writer import PaneWriter, open_panes
from tests.live.polling import wait_until

PANES, FRAMES_PER_SECOND, BOX_ROWS = 20, 20, 10
_CURSOR_TO_BOX = b"\x1b[2K\x1b[1A" * (BOX_ROWS - 1) + b"\x1b[2K\x1b[G"


def build_frame(turn: int, number: int) -> bytes:
    """Return a box with a spinner, a counter and a growing text, painted over the one before."""
    rows = [b"| step %d of module %d, %d tokens" % (row, number, turn * (row + 1)) for row in range(BOX_ROWS - 2)]
    box = b"\r\n".join([b"%s Working (%d s)" % (b"|/-\\"[turn % 4 :][:1], turn // FRAMES_PER_SECOND), *rows, b"> "])
    return box if turn == 1 else _CURSOR_TO_BOX + box


def count_stored_rows(visor: VisorInstance) -> tuple[int, int]:
    """Return the number of stored lines and of stored sightings."""
    with closing(sqlite3.connect(f"file:{visor.paths.database}?mode=ro", uri=True)) as database:
        lines = database.execute("SELECT coalesce(sum(line_count), 0) FROM block").fetchone()[0]
        return lines, database.execute("SELECT count(*) FROM sighting").fetchone()[0]


def measure_repaints(seconds: float = 20.0) -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        fifos = open_panes(tmux, folder, PANES)
        with run_instance(folder, tmux.socket) as visor:
            wait_until(lambda: are_all_captured(visor, PANES), timeout_s=60)
            writer = PaneWriter(fifos, build_frame, interval=1 / FRAMES_PER_SECOND)
            try:
                (cpu,) = measure_cpu([visor.daemon_pid], seconds)
            finally:
                writer.close()
            time.sleep(1)
            lines, sightings = count_stored_rows(visor)
    painted = writer.turns * PANES * BOX_ROWS
    print(f"  {painted} rows painted; {lines} lines and {sightings} sightings stored; daemon {cpu:.1f} % of a core")
    per_minute = (lines + sightings) / PANES / seconds * 60
    return [
        BudgetedFigure(
            "rows stored, repainting pane", per_minute, 100, "a minute", f"{painted / PANES / seconds * 60:.0f} painted"
        )
    ]

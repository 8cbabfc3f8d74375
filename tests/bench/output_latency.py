"""Measure how long output takes to reach the raw log, the pane's activity and the search index."""

from __future__ import annotations

import os
import time
from pathlib import Path

from termvisor.client import Visor
from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.bench.pane_cost import are_all_captured
from tests.bench.pane_writer import PaneWriter, open_panes
from tests.live.polling import wait_until


def measure_output_latency(rounds: int = 60, others: int = 20) -> list[BudgetedFigure]:
    """Measure on one pane while other panes print."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        fifos = open_panes(tmux, folder, others + 1)
        chatter = PaneWriter(fifos[1:])
        end = os.open(fifos[0], os.O_WRONLY)
        try:
            with run_instance(folder, tmux.socket) as one:
                wait_until(lambda: are_all_captured(one, others + 1), timeout_s=60)
                with Visor(places=one.paths) as visor:
                    pane = min(item["identity"]["id"] for item in visor.list_panes()["items"])
                    logged = [_time_to_raw_log(one.paths.raw_dir, pane, end, n) for n in range(rounds)]
                    marked = [_time_to_mark(visor, pane, end, n) for n in range(rounds)]
                    found = [_time_to_search(visor, end, n) for n in range(rounds)]
        finally:
            os.close(end)
            chatter.close()
    return [
        BudgetedFigure("write to raw log, p95", 1000 * compute_percentile(logged, 0.95), 10, "ms"),
        BudgetedFigure("write to mark seen, p95", 1000 * compute_percentile(marked, 0.95), 50, "ms"),
        BudgetedFigure("write to searchable, p95", 1000 * compute_percentile(found, 0.95), 500, "ms"),
    ]


def _time_to_raw_log(raw_dir: str, pane: int, end: int, number: int) -> float:
    log = max(Path(raw_dir, str(pane)).rglob("*.raw"), default=None)
    size = log.stat().st_size if log else 0
    began = time.monotonic()
    os.write(end, b"logged %d\n" % number)
    while True:
        log = log or max(Path(raw_dir, str(pane)).rglob("*.raw"), default=None)
        if log and log.stat().st_size > size:
            return time.monotonic() - began
        time.sleep(0.0002)


def _time_to_mark(visor: Visor, pane: int, end: int, number: int) -> float:
    began = time.monotonic()
    os.write(end, b"\x1b]133;D;%d\x07" % (number + 1))
    while True:
        (item,) = visor.list_panes(pane=str(pane))["items"]
        if item["activity"]["last_exit"] == number + 1:
            return time.monotonic() - began


def _time_to_search(visor: Visor, end: int, number: int) -> float:
    began = time.monotonic()
    os.write(end, b"findme%dword in a line\n" % number)
    while not visor.search_history(text=f"findme{number}word")["items"]:
        pass
    return time.monotonic() - began

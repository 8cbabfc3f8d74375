"""How long a write takes to be in the raw log, to move the pane's activity, to be found."""

from __future__ import annotations

import os
import time
from pathlib import Path

from termvisor.client import Visor
from termvisor.testing.instance import instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.bench.chatter import Chatter, open_panes
from tests.bench.figure import Figure, percentile
from tests.bench.panes import all_heard
from tests.live.waiting import until


def latencies(rounds: int = 60, others: int = 20) -> list[Figure]:
    """Measured on one pane while others chat."""
    with short_folder() as folder, private_tmux(folder) as tmux:
        fifos = open_panes(tmux, folder, others + 1)
        chatter = Chatter(fifos[1:])
        end = os.open(fifos[0], os.O_WRONLY)
        try:
            with instance(folder, tmux.socket) as one:
                until(lambda: all_heard(one, others + 1), seconds=60)
                with Visor(places=one.places) as visor:
                    pane = min(item["identity"]["id"] for item in visor.list_panes()["items"])
                    logged = [_logged(one.places.raw_dir, pane, end, n) for n in range(rounds)]
                    marked = [_marked(visor, pane, end, n) for n in range(rounds)]
                    found = [_found(visor, end, n) for n in range(rounds)]
        finally:
            os.close(end)
            chatter.close()
    return [
        Figure("write to raw log, p95", 1000 * percentile(logged, 0.95), 10, "ms"),
        Figure("write to mark seen, p95", 1000 * percentile(marked, 0.95), 50, "ms"),
        Figure("write to searchable, p95", 1000 * percentile(found, 0.95), 500, "ms"),
    ]


def _logged(raw_dir: str, pane: int, end: int, number: int) -> float:
    log = max(Path(raw_dir, str(pane)).rglob("*.raw"), default=None)
    size = log.stat().st_size if log else 0
    began = time.monotonic()
    os.write(end, b"logged %d\n" % number)
    while True:
        log = log or max(Path(raw_dir, str(pane)).rglob("*.raw"), default=None)
        if log and log.stat().st_size > size:
            return time.monotonic() - began
        time.sleep(0.0002)


def _marked(visor: Visor, pane: int, end: int, number: int) -> float:
    began = time.monotonic()
    os.write(end, b"\x1b]133;D;%d\x07" % (number + 1))
    while True:
        (item,) = visor.list_panes(pane=str(pane))["items"]
        if item["activity"]["last_exit"] == number + 1:
            return time.monotonic() - began


def _found(visor: Visor, end: int, number: int) -> float:
    began = time.monotonic()
    os.write(end, b"findme%dword in a line\n" % number)
    while not visor.search_history(text=f"findme{number}word")["items"]:
        pass
    return time.monotonic() - began

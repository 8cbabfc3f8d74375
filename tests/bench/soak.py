"""Simulate a day at fifty times its speed: hundreds of panes open, print and close, and no resource may grow.

Panes are compared with panes: the first measure is taken when as many of them live as at the end.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.bench.figure import BudgetedFigure
from tests.bench.pane_cost import read_rss_mb
from tests.live.polling import wait_until

LIVE_PANES = 10
PANE_SCRIPT = (
    "n=0; while [ $n -lt {turns} ]; do n=$((n+1)); "
    "printf '\\033]2;turn %s\\007\\033[32mline\\033[0m %s of pane {name}\\n' "
    "$n $n; [ $((n % 20)) -ne 0 ] || {{ printf '\\033[?1049hfull screen %s' $n; sleep 0.05; "
    "printf '\\033[?1049l'; }}; done; "
    "sleep {rest}"
)


def measure_soak(panes: int = 400, pause: float = 0.15) -> list[BudgetedFigure]:
    """Run this many panes, ten of them at any time."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session("keep", "exec sleep 100000")
        kept = {"raw_retention": "0.00001", "maintenance_interval": "10"}
        with run_instance(folder, tmux.socket, **kept) as visor:
            visor.call_robot("state")  # starts the daemon
            early = _run_panes(visor, tmux, range(panes // 3), pause)
            late = _run_panes(visor, tmux, range(panes // 3, panes), pause)
            lost = visor.call_robot("list-gaps")["items"]
    print("  early: " + _format_resources(early) + "\n  late:  " + _format_resources(late))
    return [
        BudgetedFigure(
            "soak: daemon RSS, late", late["daemon RSS"] / early["daemon RSS"], 1.15, "x", "after a third of it"
        ),
        BudgetedFigure("soak: recorder RSS, late", late["recorder RSS"] / early["recorder RSS"], 1.1, "x", "the same"),
        BudgetedFigure(
            "soak: descriptors gained", _count_gained(early, late, "descriptors"), 8, "", "of daemon and recorder"
        ),
        BudgetedFigure("soak: threads gained", _count_gained(early, late, "threads"), 2, ""),
        BudgetedFigure("soak: write-ahead file", late["WAL"], 40, "MB"),
        BudgetedFigure(
            "soak: files gained",
            _count_gained(early, late, "files"),
            4 * LIVE_PANES,
            "",
            "raw log kept for no longer than needed",
        ),
        BudgetedFigure("soak: gaps beside uncertain ends", len(lost), 0, ""),
    ]


def _run_panes(visor: VisorInstance, tmux: PrivateTmux, numbers: range, pause: float) -> dict[str, float]:
    """Run these panes; return the resources in use after they are closed and cleaned up."""
    for number in numbers:
        tmux.open_window("keep", PANE_SCRIPT.format(turns=200, name=number, rest=LIVE_PANES * pause))
        time.sleep(pause)
    wait_until(lambda: len(tmux("list-panes", "-a", "-F", "#{pane_id}").split()) == 2, timeout_s=60)
    wait_until(lambda: visor.call_robot("health")["ingest_backlog_bytes"] == 0, timeout_s=60)
    visor.run_checked("db", "prune")
    return _measure_resources(visor)


def _measure_resources(visor: VisorInstance) -> dict[str, float]:
    pids = visor.daemon_pid, visor.recorder_pid
    data = Path(visor.paths.data_dir)
    return {
        "daemon RSS": read_rss_mb(pids[0]),
        "recorder RSS": read_rss_mb(pids[1]),
        "descriptors": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids),
        "threads": sum(len(os.listdir(f"/proc/{pid}/task")) for pid in pids),
        "WAL": (data / "visor.db-wal").stat().st_size / 1e6,
        "files": sum(path.is_file() for path in data.rglob("*")),
    }


def _count_gained(early: dict[str, float], late: dict[str, float], what: str) -> float:
    return max(0.0, late[what] - early[what])


def _format_resources(held: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in held.items())

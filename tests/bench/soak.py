"""A day at fifty times its speed: panes come, print and go by the hundred. In the end we hold what we held early.

Panes are compared with panes: the first measure is taken when as many of them live as at the end.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from termvisor.testing.instance import Instance, instance
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.bench.figure import Figure
from tests.bench.panes import rss
from tests.live.waiting import until

ALIVE = 10
WORK = (
    "n=0; while [ $n -lt {turns} ]; do n=$((n+1)); "
    "printf '\\033]2;turn %s\\007\\033[32mline\\033[0m %s of pane {name}\\n' "
    "$n $n; [ $((n % 20)) -ne 0 ] || {{ printf '\\033[?1049hfull screen %s' $n; sleep 0.05; "
    "printf '\\033[?1049l'; }}; done; "
    "sleep {rest}"
)


def day(panes: int = 400, pause: float = 0.15) -> list[Figure]:
    """So many panes in turn, ten of them at any time."""
    with short_folder() as folder, private_tmux(folder) as tmux:
        tmux.start("keep", "exec sleep 100000")
        kept = {"raw_retention": "0.00001", "maintenance_interval": "10"}
        with instance(folder, tmux.socket, **kept) as visor:
            visor.robot("state")  # starts the daemon
            early = _held(visor, tmux, range(panes // 3), pause)
            late = _held(visor, tmux, range(panes // 3, panes), pause)
            lost = [gap for gap in visor.robot("list-gaps")["items"] if gap["cause"] != "tail_uncertain"]
    print("  early: " + _told(early) + "\n  late:  " + _told(late))
    return [
        Figure("soak: daemon RSS, late", late["daemon RSS"] / early["daemon RSS"], 1.15, "x", "after a third of it"),
        Figure("soak: recorder RSS, late", late["recorder RSS"] / early["recorder RSS"], 1.1, "x", "the same"),
        Figure("soak: descriptors gained", _gained(early, late, "descriptors"), 8, "", "of daemon and recorder"),
        Figure("soak: threads gained", _gained(early, late, "threads"), 2, ""),
        Figure("soak: write-ahead file", late["WAL"], 40, "MB"),
        Figure(
            "soak: files gained", _gained(early, late, "files"), 4 * ALIVE, "", "raw log kept for no longer than needed"
        ),
        Figure("soak: gaps beside uncertain ends", len(lost), 0, ""),
    ]


def _held(visor: Instance, tmux: PrivateTmux, numbers: range, pause: float) -> dict[str, float]:
    """Let these panes live; what is held once they are quiet and what they left is tidied up."""
    for number in numbers:
        tmux.window("keep", WORK.format(turns=200, name=number, rest=ALIVE * pause))
        time.sleep(pause)
    until(lambda: len(tmux("list-panes", "-a", "-F", "#{pane_id}").split()) == 2, seconds=60)
    until(lambda: visor.robot("health")["ingest_backlog_bytes"] == 0, seconds=60)
    visor.visor("db", "prune")
    return _measure(visor)


def _measure(visor: Instance) -> dict[str, float]:
    pids = visor.daemon_pid, visor.recorder_pid
    data = Path(visor.places.data_dir)
    return {
        "daemon RSS": rss(pids[0]),
        "recorder RSS": rss(pids[1]),
        "descriptors": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids),
        "threads": sum(len(os.listdir(f"/proc/{pid}/task")) for pid in pids),
        "WAL": (data / "visor.db-wal").stat().st_size / 1e6,
        "files": sum(path.is_file() for path in data.rglob("*")),
    }


def _gained(early: dict[str, float], late: dict[str, float], what: str) -> float:
    return max(0.0, late[what] - early[what])


def _told(held: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in held.items())

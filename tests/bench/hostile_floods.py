"""Measure peak memory during floods of hostile output, and check that all of it is read."""

from __future__ import annotations

import time

from termvisor.client import Visor
from termvisor.testing.private_tmux import make_short_folder
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.live.conftest import WatchedTmux, run_watched_tmux
from tests.live.hostile_output import FLOOD_KINDS, build_flood_command
from tests.live.numbered_printer import read_resident_bytes

MB = 1_000_000
LARGE_FLOOD_BYTES = {"osc": 100 * MB, "line": 1000 * MB, "tiny": MB}
DEFAULT_FLOOD_BYTES = 5 * MB
NEIGHBOUR_FLOODS = {"keys": "9,000 key-like lines a second", "noise": "2 MB of random bytes a second"}


def measure_floods() -> list[BudgetedFigure]:
    """Run all floods in the same pane, one after the other, so that leaked memory adds up."""
    with run_watched_tmux() as scene, make_short_folder() as folder:
        mux_id = scene.tmux.start_session("flooded")
        ours = scene.wait_until_captured(mux_id)
        pids = scene.visor.daemon_pid, scene.visor.recorder_pid
        peaks = {
            kind: _measure_peak_memory(
                scene,
                (mux_id, ours),
                build_flood_command(folder, kind, LARGE_FLOOD_BYTES.get(kind, DEFAULT_FLOOD_BYTES)),
                kind,
            )
            for kind in FLOOD_KINDS
        }
        lost = len(scene.list_gap_causes()) + ((scene.visor.daemon_pid, scene.visor.recorder_pid) != pids)
    worst = max((kind for kind in FLOOD_KINDS if kind not in LARGE_FLOOD_BYTES), key=lambda kind: peaks[kind][0])
    return [
        BudgetedFigure("daemon RSS, 100 MB of an unfinished OSC", peaks["osc"][0], 64, "MB"),
        BudgetedFigure("daemon RSS, 1 GB without a newline", peaks["line"][0], 64, "MB"),
        BudgetedFigure("daemon RSS, a million tiny writes", peaks["tiny"][0], 80, "MB", "after all other floods"),
        BudgetedFigure("daemon RSS, other floods at worst", peaks[worst][0], 80, "MB", worst),
        BudgetedFigure("recorder RSS, all floods", max(recorder for _, recorder in peaks.values()), 15, "MB"),
        BudgetedFigure("floods: gaps and restarts", lost, 0, ""),
    ]


def _measure_peak_memory(scene: WatchedTmux, pane: tuple[str, int], command: str, kind: str) -> tuple[float, float]:
    """Return the peak memory of daemon and recorder in megabytes until the flood is read completely."""
    mux_id, ours = pane
    pids = scene.visor.daemon_pid, scene.visor.recorder_pid
    peak = [0.0, 0.0]
    scene.tmux.type_line(mux_id, command)
    is_over = False
    while not is_over:
        status, _, _ = scene.visor.run(
            "robot", "wait-for", str(ours), f"^{kind}-flood-is-over$", "--regex", "--timeout-secs", "1"
        )
        is_over = status == 0
        peak = [max(most, read_resident_bytes(pid) / MB) for most, pid in zip(peak, pids, strict=True)]
    print(f"  {kind}: daemon {peak[0]:.1f} MB, recorder {peak[1]:.1f} MB", flush=True)
    return peak[0], peak[1]


def measure_neighbours(seconds: float = 15.0) -> list[BudgetedFigure]:
    """Measure how long the text of one pane takes to be readable and searchable while another pane floods."""
    figures: list[BudgetedFigure] = []
    for kind, description in NEIGHBOUR_FLOODS.items():
        read, found = _measure_neighbour(kind, seconds)
        for name, delays in (("text", read), ("search", found)):
            figures.append(BudgetedFigure(f"{name} beside {kind}, median", compute_percentile(delays, 0.5), 0.5, "s"))
            figures.append(BudgetedFigure(f"{name} beside {kind}, worst", max(delays), 1, "s", description))
    return figures


def _measure_neighbour(kind: str, seconds: float) -> tuple[list[float], list[float]]:
    read: list[float] = []
    found: list[float] = []
    with run_watched_tmux() as scene, make_short_folder() as folder:
        quiet = scene.tmux.start_session("quiet", "cat")
        flooded = scene.tmux.start_session("flooded")
        pane = scene.wait_until_captured(quiet)
        scene.wait_until_captured(flooded)
        with Visor(places=scene.visor.paths) as visor:
            scene.tmux.type_line(flooded, build_flood_command(folder, kind, 1e12))
            began = time.monotonic()
            # The backlog of the flooded pane grows meanwhile.
            while time.monotonic() - began < seconds:
                word = f"neighbour{len(read)}word"
                scene.tmux.type_line(quiet, word)
                printed_at = time.monotonic()
                while word not in visor.get_text(pane=str(pane), tail=5)["text"]:
                    time.sleep(0.005)
                read.append(time.monotonic() - printed_at)
                while not visor.search_history(text=word)["items"]:
                    time.sleep(0.005)
                found.append(time.monotonic() - printed_at)
                time.sleep(0.1)
        scene.tmux("kill-pane", "-t", flooded)
    print(f"  beside {kind}: text {max(read):.2f} s, search {max(found):.2f} s at worst", flush=True)
    return read, found

"""Floods of the worst that programs can print, at full size: how much memory they cost, and that all of it is read."""

from __future__ import annotations

from termvisor.testing.tmux import short_folder
from tests.bench.figure import Figure
from tests.live.conftest import Scene, watched_tmux
from tests.live.flooding import KINDS, flood
from tests.live.printing import pages

MB = 1_000_000
LARGE = {"osc": 100 * MB, "line": 1000 * MB, "tiny": MB}
SOME = 5 * MB


def floods() -> list[Figure]:
    """Each in the same pane, one after the other, so that what one leaves behind adds up."""
    with watched_tmux() as scene, short_folder() as folder:
        mux_id = scene.tmux.start("flooded")
        ours = scene.heard(mux_id)
        pids = scene.visor.daemon_pid, scene.visor.recorder_pid
        peaks = {kind: _peak(scene, (mux_id, ours), flood(folder, kind, LARGE.get(kind, SOME)), kind) for kind in KINDS}
        lost = len(scene.causes()) + ((scene.visor.daemon_pid, scene.visor.recorder_pid) != pids)
    worst = max((kind for kind in KINDS if kind not in LARGE), key=lambda kind: peaks[kind][0])
    return [
        Figure("daemon RSS, 100 MB of an unfinished OSC", peaks["osc"][0], 64, "MB"),
        Figure("daemon RSS, 1 GB without a newline", peaks["line"][0], 64, "MB"),
        Figure("daemon RSS, a million tiny writes", peaks["tiny"][0], 80, "MB", "after all other floods"),
        Figure("daemon RSS, other floods at worst", peaks[worst][0], 80, "MB", worst),
        Figure("recorder RSS, all floods", max(recorder for _, recorder in peaks.values()), 15, "MB"),
        Figure("floods: gaps and restarts", lost, 0, ""),
    ]


def _peak(scene: Scene, pane: tuple[str, int], command: str, kind: str) -> tuple[float, float]:
    """Memory of daemon and recorder in megabytes, the most that was seen until the flood was read to its end."""
    mux_id, ours = pane
    pids = scene.visor.daemon_pid, scene.visor.recorder_pid
    peak = [0.0, 0.0]
    scene.tmux.type(mux_id, command)
    is_over = False
    while not is_over:
        status, _, _ = scene.visor.run(
            "robot", "wait-for", str(ours), f"^{kind}-flood-is-over$", "--regex", "--timeout-secs", "1"
        )
        is_over = status == 0
        peak = [max(most, pages(pid) / MB) for most, pid in zip(peak, pids, strict=True)]
    print(f"  {kind}: daemon {peak[0]:.1f} MB, recorder {peak[1]:.1f} MB", flush=True)
    return peak[0], peak[1]

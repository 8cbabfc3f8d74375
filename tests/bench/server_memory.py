"""Measure whether a tmux server that is watched keeps memory of windows that are gone."""

from __future__ import annotations

from collections.abc import Callable

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure
from tests.bench.pane_cost import are_all_captured, get_tmux_pid, read_rss_mb
from tests.live.polling import wait_until

AT_ONCE = 20


def measure_server_memory(windows: int = 1000) -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session(command="exec sleep 1000")
        alone = grow_and_shrink(tmux, windows, lambda: None)
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session(command="exec sleep 1000")
        with run_instance(folder, tmux.socket) as visor:
            wait_until(lambda: are_all_captured(visor, 1))
            watched = grow_and_shrink(
                tmux, windows, lambda: wait_until(lambda: are_all_captured(visor, AT_ONCE + 1), timeout_s=60)
            )
    print(f"  tmux's RSS {alone:.1f} MB alone, {watched:.1f} MB watched")
    return [
        BudgetedFigure(
            "RSS of tmux after 1,000 windows", watched / alone, 1.3, "x", f"the same without us ({alone:.1f} MB)"
        )
    ]


def grow_and_shrink(tmux: PrivateTmux, windows: int, wait: Callable[[], object]) -> float:
    """Open and close windows, some at a time, and return the server's RSS in megabytes."""
    for _ in range(windows // AT_ONCE):
        opened = [tmux("new-window", "-d", "-P", "-F", "#{window_id}", "exec sleep 1000") for _ in range(AT_ONCE)]
        wait()
        for window in opened:
            tmux("kill-window", "-t", window)
    return read_rss_mb(get_tmux_pid(tmux))

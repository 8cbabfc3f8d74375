"""Measure the CPU cost of capturing many panes, compared with no capture and with a poller."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import time
from typing import NamedTuple

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure
from tests.bench.pane_writer import PaneWriter, open_panes, read_cpu_seconds
from tests.live.polling import wait_until

MB = 1_000_000


def are_all_captured(visor, count: int) -> bool:
    items = visor.call_robot("state")["items"]
    return len(items) == count and all(item["heard_by"] == "pipe" for item in items)


def read_rss_mb(pid: int) -> float:
    with open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MB


def get_tmux_pid(tmux: PrivateTmux) -> int:
    return int(tmux("display-message", "-p", "#{pid}"))


def measure_cpu(pids: list[int], seconds: float) -> list[float]:
    """Return the percentage of a core that each process used during the interval."""
    before = [read_cpu_seconds(pid) for pid in pids]
    began = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    return [100 * (read_cpu_seconds(pid) - then) / took for pid, then in zip(pids, before, strict=True)]


def poll_forever(socket: str, panes: list[str]) -> None:
    """Run one `tmux capture-pane` process per pane and second, as simple status tools do."""
    while True:
        began = time.monotonic()
        for pane in panes:
            subprocess.run(["tmux", "-S", socket, "capture-pane", "-p", "-t", pane], capture_output=True, check=False)
        time.sleep(max(0.0, 1.0 - (time.monotonic() - began)))


def measure_poller_cpu(tmux: PrivateTmux, seconds: float) -> float:
    """Return the CPU use of the poller, its children and the extra work of tmux, in percent of a core."""
    server = get_tmux_pid(tmux)
    panes = tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    process = multiprocessing.get_context("spawn").Process(target=poll_forever, args=(tmux.socket, panes), daemon=True)
    process.start()
    time.sleep(2)
    try:
        return sum(measure_cpu([process.pid or 0, server], seconds))
    finally:
        process.kill()
        process.join()


class CostSample(NamedTuple):
    """CPU use in percent of a core for the same panes within half a minute, minus the cost of tmux without capture."""

    our_cpu: float
    poller_cpu: float
    daemon_rss: float
    recorder_rss: float


def measure_cost(tmux: PrivateTmux, folder: str, count: int, seconds: float) -> CostSample:
    (alone,) = measure_cpu([get_tmux_pid(tmux)], seconds)
    polled = measure_poller_cpu(tmux, seconds) - alone
    with run_instance(folder, tmux.socket) as visor:
        wait_until(lambda: are_all_captured(visor, count), timeout_s=60)
        time.sleep(3)
        pids = [visor.daemon_pid, visor.recorder_pid, get_tmux_pid(tmux)]
        daemon, recorder, server = measure_cpu(pids, seconds)
        print(
            f"  daemon {daemon:.1f} %, recorder {recorder:.1f} %, tmux {server - alone:+.1f} %;"
            f" the poller {polled:.1f} %; tmux alone {alone:.1f} %"
        )
        return CostSample(daemon + recorder + server - alone, polled, read_rss_mb(pids[0]), read_rss_mb(pids[1]))


def measure_chatty_panes(seconds: float = 8.0, count: int = 100, turns: int = 3) -> list[BudgetedFigure]:
    """Measure in turns, so that other load on the machine affects all variants alike."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        chatter = PaneWriter(open_panes(tmux, folder, count))
        try:
            time.sleep(2)
            measured = [measure_cost(tmux, folder, count, seconds) for _ in range(turns)]
        finally:
            chatter.close()
    ours, polled, *memory = (sum(column) / turns for column in zip(*measured, strict=True))
    return [
        BudgetedFigure(
            "CPU, 100 chatty panes", ours / polled, 0.5, "x", f"a 1 s capture-pane poller ({polled:.1f} % of a core)"
        ),
        BudgetedFigure("daemon RSS, 100 chatty panes", memory[0], 50, "MB"),
        BudgetedFigure("recorder RSS, 100 panes", memory[1], 15, "MB"),
    ]


def measure_quiet_panes(seconds: float = 20.0, count: int = 200) -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        open_panes(tmux, folder, count, "exec sleep 1000")
        time.sleep(2)
        (alone,) = measure_cpu([get_tmux_pid(tmux)], seconds)
        with run_instance(folder, tmux.socket) as visor:
            wait_until(lambda: are_all_captured(visor, count), timeout_s=60)
            time.sleep(5)
            pids = [visor.daemon_pid, visor.recorder_pid, get_tmux_pid(tmux)]
            daemon, recorder, server = measure_cpu(pids, seconds)
            memory = read_rss_mb(pids[0])
    print(f"  daemon {daemon:.2f} %, recorder {recorder:.2f} %, tmux {server:.2f} % (alone {alone:.2f} %)")
    return [
        BudgetedFigure(
            "idle CPU, 200 quiet panes", daemon + recorder + server - alone, 1.0, "% of a core", "tmux's extra counted"
        ),
        BudgetedFigure("daemon RSS, 200 quiet panes", memory, 50, "MB"),
    ]

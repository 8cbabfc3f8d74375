"""What watching many panes costs, beside what they cost unwatched and beside a poller."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import time
from typing import NamedTuple

from termvisor.testing.instance import instance
from termvisor.testing.tmux import PrivateTmux, private_tmux, short_folder
from tests.bench.chatter import Chatter, cpu_seconds, open_panes
from tests.bench.figure import Figure
from tests.live.waiting import until

MB = 1_000_000


def all_heard(visor, count: int) -> bool:
    items = visor.robot("state")["items"]
    return len(items) == count and all(item["heard_by"] == "pipe" for item in items)


def rss(pid: int) -> float:
    with open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MB


def tmux_pid(tmux: PrivateTmux) -> int:
    return int(tmux("display-message", "-p", "#{pid}"))


def spent(pids: list[int], seconds: float) -> list[float]:
    """Percent of a core that each process used while we waited."""
    before = [cpu_seconds(pid) for pid in pids]
    began = time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    return [100 * (cpu_seconds(pid) - then) / took for pid, then in zip(pids, before, strict=True)]


def poll_forever(socket: str, panes: list[str]) -> None:
    """What a simple status tool does: every second one `tmux capture-pane` process a pane."""
    while True:
        began = time.monotonic()
        for pane in panes:
            subprocess.run(["tmux", "-S", socket, "capture-pane", "-p", "-t", pane], capture_output=True, check=False)
        time.sleep(max(0.0, 1.0 - (time.monotonic() - began)))


def poller(tmux: PrivateTmux, seconds: float) -> float:
    """The poller and its children, and what it makes tmux do more, in percent of a core."""
    server = tmux_pid(tmux)
    panes = tmux("list-panes", "-a", "-F", "#{pane_id}").split()
    process = multiprocessing.get_context("spawn").Process(target=poll_forever, args=(tmux.socket, panes), daemon=True)
    process.start()
    time.sleep(2)
    try:
        return sum(spent([process.pid or 0, server], seconds))
    finally:
        process.kill()
        process.join()


class Turn(NamedTuple):
    """Percent of a core, each for the same panes within the same half minute; tmux's cost unwatched is taken off."""

    ours: float
    polled: float
    daemon_rss: float
    recorder_rss: float


def turn(tmux: PrivateTmux, folder: str, count: int, seconds: float) -> Turn:
    (alone,) = spent([tmux_pid(tmux)], seconds)
    polled = poller(tmux, seconds) - alone
    with instance(folder, tmux.socket) as visor:
        until(lambda: all_heard(visor, count), seconds=60)
        time.sleep(3)
        pids = [visor.daemon_pid, visor.recorder_pid, tmux_pid(tmux)]
        daemon, recorder, server = spent(pids, seconds)
        print(
            f"  daemon {daemon:.1f} %, recorder {recorder:.1f} %, tmux {server - alone:+.1f} %;"
            f" the poller {polled:.1f} %; tmux alone {alone:.1f} %"
        )
        return Turn(daemon + recorder + server - alone, polled, rss(pids[0]), rss(pids[1]))


def chatty(seconds: float = 8.0, count: int = 100, turns: int = 3) -> list[Figure]:
    """In turns, because what a busy machine does beside it would else be counted against only one of them."""
    with short_folder() as folder, private_tmux(folder) as tmux:
        chatter = Chatter(open_panes(tmux, folder, count))
        try:
            time.sleep(2)
            measured = [turn(tmux, folder, count, seconds) for _ in range(turns)]
        finally:
            chatter.close()
    ours, polled, *memory = (sum(column) / turns for column in zip(*measured, strict=True))
    return [
        Figure(
            "CPU, 100 chatty panes", ours / polled, 0.5, "x", f"a 1 s capture-pane poller ({polled:.1f} % of a core)"
        ),
        Figure("daemon RSS, 100 chatty panes", memory[0], 50, "MB"),
        Figure("recorder RSS, 100 panes", memory[1], 15, "MB"),
    ]


def quiet(seconds: float = 20.0, count: int = 200) -> list[Figure]:
    with short_folder() as folder, private_tmux(folder) as tmux:
        open_panes(tmux, folder, count, "exec sleep 1000")
        time.sleep(2)
        (alone,) = spent([tmux_pid(tmux)], seconds)
        with instance(folder, tmux.socket) as visor:
            until(lambda: all_heard(visor, count), seconds=60)
            time.sleep(5)
            pids = [visor.daemon_pid, visor.recorder_pid, tmux_pid(tmux)]
            daemon, recorder, server = spent(pids, seconds)
            memory = rss(pids[0])
    print(f"  daemon {daemon:.2f} %, recorder {recorder:.2f} %, tmux {server:.2f} % (alone {alone:.2f} %)")
    return [
        Figure(
            "idle CPU, 200 quiet panes", daemon + recorder + server - alone, 1.0, "% of a core", "tmux's extra counted"
        ),
        Figure("daemon RSS, 200 quiet panes", memory, 50, "MB"),
    ]

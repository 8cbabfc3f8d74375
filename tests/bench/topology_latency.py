"""Measure how soon a new pane is captured and a resize noticed, and what we add to an idle server's message log."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from termvisor.client import Visor
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.bench.pane_cost import are_all_captured
from tests.bench.pane_writer import open_panes
from tests.live.polling import wait_until
from tests.live.test_watching import attach_client

IDLE_S = 30.0
LONGEST_WAIT_S = 20.0


def measure_topology(rounds: int = 20, others: int = 20) -> list[BudgetedFigure]:
    """Measure on a server with quiet panes, of which one user opens windows and changes sizes."""
    with run_quiet_server(others) as (tmux, visor):
        lines = measure_log_lines(tmux)
        opened = [time_new_pane(tmux, visor) for _ in range(rounds)]
        resized = [time_resize(tmux, visor, 60 + number) for number in range(rounds)]
    print(f"  new pane {_describe(opened)}; resize {_describe(resized)}")
    return [
        BudgetedFigure("new pane captured, p95", 1000 * compute_percentile(opened, 0.95), 500, "ms"),
        BudgetedFigure("resize noticed, p95", 1000 * compute_percentile(resized, 0.95), 500, "ms"),
        BudgetedFigure("lines in the message log of an idle server", lines, 10, "a minute"),
    ]


def measure_recorder_loss(count: int = 300) -> list[BudgetedFigure]:
    """Measure how soon all panes of a server are captured again after the recorder was killed."""
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        open_panes(tmux, folder, count, "exec sleep 1000")
        with run_instance(folder, tmux.socket) as one:
            wait_until(lambda: are_all_captured(one, count), timeout_s=120)
            recorder = one.recorder_pid
            began = time.monotonic()
            os.kill(recorder, signal.SIGKILL)
            with Visor(places=one.paths) as visor:
                wait_until(lambda: count_captured_again(visor, recorder) == count, timeout_s=120)
            again = time.monotonic() - began
    return [BudgetedFigure(f"{count} panes captured again after the recorder died", again, 10, "s")]


def count_captured_again(visor: Visor, dead_recorder: int) -> int:
    recorder = visor.health()["recorder"]
    if recorder is None or recorder["pid"] == dead_recorder:
        return 0
    return sum(pane["heard_by"] == "pipe" for pane in visor.list_panes()["items"])


@contextmanager
def run_quiet_server(count: int) -> Iterator[tuple[PrivateTmux, Visor]]:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        open_panes(tmux, folder, count, "exec sleep 1000")
        with run_instance(folder, tmux.socket) as one:
            wait_until(lambda: are_all_captured(one, count), timeout_s=60)
            with Visor(places=one.paths) as visor:
                yield tmux, visor


def measure_log_lines(tmux: PrivateTmux) -> float:
    """Return how many lines a minute are added to tmux's message log, without those of this function."""
    client = attach_client(tmux, "s0")  # only a client may read the log
    time.sleep(5)  # the daemon still works on what it found
    count_lines = lambda: len(tmux("show-messages").splitlines())  # noqa: E731
    before = count_lines()
    time.sleep(IDLE_S)
    added = count_lines() - before - 1
    client.kill()
    client.wait()
    return added * 60 / IDLE_S


def time_new_pane(tmux: PrivateTmux, visor: Visor) -> float:
    began = time.monotonic()
    mux_id = tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "exec sleep 1000")
    return time_until(began, lambda: find_pane(visor, mux_id).get("heard_by") == "pipe")


def time_resize(tmux: PrivateTmux, visor: Visor, width: int) -> float:
    mux_id = tmux("list-panes", "-a", "-F", "#{pane_id}").split()[-1]
    began = time.monotonic()
    tmux("resize-window", "-t", mux_id, "-x", str(width), "-y", "20")
    return time_until(began, lambda: find_pane(visor, mux_id).get("width") == width)


def time_until(began: float, check: Callable[[], bool]) -> float:
    while not check() and time.monotonic() - began < LONGEST_WAIT_S:
        time.sleep(0.002)
    return time.monotonic() - began


def find_pane(visor: Visor, mux_id: str) -> dict[str, Any]:
    return next((item for item in visor.list_panes()["items"] if item["identity"]["pane_id"] == mux_id), {})


def _describe(times: list[float]) -> str:
    return f"median {1000 * compute_percentile(times, 0.5):.0f} ms, longest {1000 * max(times):.0f} ms"

"""Measure the time of one `visor robot` call, compared with the start of the interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from termvisor.testing.private_tmux import make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import run_instance
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.live.polling import wait_until
from tests.recordings.recorded_agent import RecordedAgent


def measure_robot_state(rounds: int = 40) -> list[BudgetedFigure]:
    command = os.path.join(os.path.dirname(sys.executable), "visor")
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        tmux.start_session()
        wait_until(lambda: visor.call_robot("state")["items"])
        bare, ours = [], []
        for _ in range(rounds):
            bare.append(_time_command([sys.executable, "-c", "pass"], visor.env))
            ours.append(_time_command([command, "robot", "state"], visor.env))
    ratio = compute_percentile(ours, 0.5) / compute_percentile(bare, 0.5)
    return [
        BudgetedFigure(
            "visor robot state",
            ratio,
            2.5,
            "x",
            f"python -c pass ({1000 * compute_percentile(bare, 0.5):.1f} ms), side by side",
        )
    ]


def measure_status_line(rounds: int = 40) -> list[BudgetedFigure]:
    """Measure repeated status line calls, with an agent so that the line is not empty."""
    command = os.path.join(os.path.dirname(sys.executable), "visor")
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_instance(folder, tmux.socket) as visor:
        actor = RecordedAgent(folder, 0, "codex")
        actor.start(lambda run: tmux.start_session("work", run), tmux)
        actor.write_terminal("\x1b]7501;state=working:app=codex\x1b\\")
        visor.call_robot("state")
        wait_until(lambda: visor.run_checked("tmux-status").strip())
        bare, ours = [], []
        for _ in range(rounds):
            bare.append(_time_command([sys.executable, "-c", "pass"], visor.env))
            ours.append(_time_command([command, "tmux-status"], visor.env))
        actor.stop()
    ratio, start = compute_percentile(ours, 0.5) / compute_percentile(bare, 0.5), compute_percentile(bare, 0.5)
    return [
        BudgetedFigure(
            "visor tmux-status, undisturbed", 1000 * min(ours), 30, "ms", "the fastest: others use the machine, too"
        ),
        BudgetedFigure("visor tmux-status", ratio, 2.5, "x", f"python -c pass ({1000 * start:.1f} ms), side by side"),
    ]


def _time_command(argv: list[str], env) -> float:
    began = time.perf_counter()
    subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began

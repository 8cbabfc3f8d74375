"""What one call by an agent costs, beside the interpreter's own start."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from termvisor.testing.instance import instance
from termvisor.testing.tmux import private_tmux, short_folder
from tests.bench.figure import Figure, percentile
from tests.live.waiting import until
from tests.recordings.actor import Actor


def state(rounds: int = 40) -> list[Figure]:
    command = os.path.join(os.path.dirname(sys.executable), "visor")
    with short_folder() as folder, private_tmux(folder) as tmux, instance(folder, tmux.socket) as visor:
        tmux.start()
        until(lambda: visor.robot("state")["items"])
        bare, ours = [], []
        for _ in range(rounds):
            bare.append(_time([sys.executable, "-c", "pass"], visor.env))
            ours.append(_time([command, "robot", "state"], visor.env))
    ratio = percentile(ours, 0.5) / percentile(bare, 0.5)
    return [
        Figure(
            "visor robot state",
            ratio,
            2.5,
            "x",
            f"python -c pass ({1000 * percentile(bare, 0.5):.1f} ms), side by side",
        )
    ]


def status_line(rounds: int = 40) -> list[Figure]:
    """For a status line that asks again and again; with an agent, so that there is something to say."""
    command = os.path.join(os.path.dirname(sys.executable), "visor")
    with short_folder() as folder, private_tmux(folder) as tmux, instance(folder, tmux.socket) as visor:
        actor = Actor(folder, 0, "codex")
        actor.enter(lambda run: tmux.start("work", run), tmux)
        actor.print("\x1b]7501;state=working:app=codex\x1b\\")
        visor.robot("state")
        until(lambda: visor.visor("tmux-status").strip())
        bare, ours = [], []
        for _ in range(rounds):
            bare.append(_time([sys.executable, "-c", "pass"], visor.env))
            ours.append(_time([command, "tmux-status"], visor.env))
        actor.leave()
    ratio, start = percentile(ours, 0.5) / percentile(bare, 0.5), percentile(bare, 0.5)
    return [
        Figure(
            "visor tmux-status, undisturbed", 1000 * min(ours), 30, "ms", "the fastest: others use the machine, too"
        ),
        Figure("visor tmux-status", ratio, 2.5, "x", f"python -c pass ({1000 * start:.1f} ms), side by side"),
    ]


def _time(argv: list[str], env) -> float:
    began = time.perf_counter()
    subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began

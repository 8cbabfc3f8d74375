"""Measure the cockpit on a terminal with 200 panes: start, memory, and CPU with quiet and with busy panes."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import shlex
import struct
import subprocess
import sys
import termios
import time

from termvisor.system.procfs import list_processes, read_argv
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.bench.pane_cost import are_all_captured, measure_cpu, read_rss_mb
from tests.bench.pane_writer import PaneWriter, open_panes, read_cpu_seconds
from tests.live.polling import wait_until

PANES = 200
BUSY = 10
"""Panes that print ten times a second; the first of them is the one that is shown."""


def measure_interpreter_start(times: int = 20) -> float:
    """Return the CPU seconds of an interpreter that does nothing."""
    before = os.times()
    for _ in range(times):
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
    after = os.times()
    used = after.children_user - before.children_user + after.children_system - before.children_system
    return used / times


def find_cockpit_pid() -> int:
    """Return the pid of the running cockpit; 0 if there is none."""
    return next((one.pid for one in list_processes() if read_argv(one.pid)[-2:] == ("termvisor", "tui")), 0)


def open_cockpit(terminal: PrivateTmux, visor: VisorInstance) -> int:
    names = [f"{name}={value}" for name, value in visor.env.items() if name.startswith("VISOR_")]
    command = shlex.join(["env", "-u", "TMUX", *names, sys.executable, "-m", "termvisor", "tui"])
    terminal.start_session("terminal", f"exec {command}", width=160, height=50)
    wait_until(lambda: f" {PANES} panes" in terminal("capture-pane", "-p", "-t", "terminal"), timeout_s=60)
    return find_cockpit_pid()


def measure_key_paint(visor: VisorInstance, presses: int = 40) -> list[float]:
    """Return the seconds from a key to the first byte that is painted for it."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    argv = [sys.executable, "-m", "termvisor", "tui"]
    with subprocess.Popen(argv, stdin=side, stdout=side, stderr=side, env={**visor.env, "TERM": "xterm"}) as process:
        os.close(side)
        read_until_quiet(main, 4.0)
        times = []
        for number in range(presses):
            read_until_quiet(main, 0.3)
            began = time.monotonic()
            os.write(main, b"jk"[number % 2 :][:1])
            select.select([main], [], [], 5)
            times.append(time.monotonic() - began)
        process.kill()
    os.close(main)
    return times


def read_until_quiet(descriptor: int, seconds: float) -> None:
    while select.select([descriptor], [], [], seconds)[0]:
        os.read(descriptor, 65536)


def measure_cockpit(seconds: float = 20.0) -> list[BudgetedFigure]:
    unit = measure_interpreter_start()
    with make_short_folder() as folder, run_private_tmux(folder) as tmux, run_private_tmux(folder, "outer") as terminal:
        fifos = open_panes(tmux, folder, PANES, "exec cat {fifo}")
        writer = None
        with run_instance(folder, tmux.socket) as visor:
            wait_until(lambda: are_all_captured(visor, PANES), timeout_s=60)
            time.sleep(5)
            pid = open_cockpit(terminal, visor)
            start = read_cpu_seconds(pid)
            time.sleep(8)
            (quiet,) = measure_cpu([pid], seconds)
            try:
                writer = PaneWriter(fifos[:BUSY])
                time.sleep(3)
                (busy,) = measure_cpu([pid], seconds)
            finally:
                if writer is not None:
                    writer.close()
            rss = read_rss_mb(pid)
            terminal("kill-session", "-t", "terminal")
            keys = measure_key_paint(visor)
    print(f"  start {start:.2f} s CPU ({unit * 1000:.1f} ms an interpreter), quiet {quiet:.2f} %, busy {busy:.2f} %")
    return [
        BudgetedFigure("first paint of the cockpit", start / unit, 60, "interpreter starts", "CPU time"),
        BudgetedFigure("cockpit CPU, 200 quiet panes", quiet, 2.0, "% of a core"),
        BudgetedFigure("cockpit CPU, a pane shown at 10 Hz", busy, 10.0, "% of a core"),
        BudgetedFigure("cockpit RSS", rss, 48, "MB"),
        BudgetedFigure("key to paint p95", 1000 * compute_percentile(keys, 0.95), 50, "ms", "200 panes, quiet"),
    ]

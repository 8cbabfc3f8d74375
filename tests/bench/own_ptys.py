"""Measure panes without tmux: memory of the PTY host; delay of a key and speed of output in `visor attach`."""

from __future__ import annotations

import asyncio
import os
import pty
import select
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from termvisor.backends.pty.host_client import PtyHostClient
from termvisor.capture.recorder_client import RecorderClient
from termvisor.model.ids import EpochId, PaneId
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.testing.leftover_processes import kill_processes_of
from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.bench.pane_cost import read_rss_mb
from tests.live.robot_shells import allow_robots

PANES, ROUNDS, KEYS_PER_ROUND = 50, 50, 20
OUTPUT_BYTES = 100_000_000
END = b"<<<end>>>"


def measure_host_memory() -> list[BudgetedFigure]:
    with make_short_folder() as folder:
        rss = asyncio.run(_measure_host_rss(folder))
    return [BudgetedFigure(f"RSS of the PTY host, {PANES} panes", rss, 15 + 0.1 * PANES, "MB")]


async def _measure_host_rss(folder: str) -> float:
    paths = Paths(f"{folder}/c", f"{folder}/d", f"{folder}/r")
    make_instance_folders(paths)
    recorder, host = RecorderClient(paths, Settings(), lambda epoch, size: None), PtyHostClient(paths)
    await recorder.start()
    for number in range(1, PANES + 1):
        program = await host.start_program(["cat"], cwd=folder, env={"PATH": os.environ["PATH"], "IN": folder})
        await host.hold(program.number, PaneId(number), EpochId(number))
        await host.write(program.number, b"typed\n" * 20)
    rss = read_rss_mb(host.pid or 0)
    for number in list(host.programs):
        await host.send_signal(number, signal.SIGKILL, "session")
        await host.wait_exit(number)
        await host.forget_program(number)
    await host.quit()
    await recorder.quit()
    return rss


def measure_attach() -> list[BudgetedFigure]:
    with make_short_folder() as folder, run_instance(folder, f"{folder}/none") as visor:
        allow_robots(visor, "spawn")
        visor.start()
        try:
            return [_measure_key_delay(visor, folder), _measure_throughput(visor, folder)]
        finally:
            kill_processes_of(folder)


def _measure_key_delay(visor: VisorInstance, folder: str) -> BudgetedFigure:
    """Type into a bare terminal and into an attached one by turns, and compare all keys."""
    echo = "stty raw -echo; echo ready; exec cat"
    pane = _spawn(visor, folder, "echo", echo)
    bare_delays, own_delays = [], []
    with _open_terminal(["sh", "-c", echo], dict(visor.env)) as bare, _attach(visor, pane) as attached:
        _read_until(bare, b"ready")
        _read_until(attached, b"ready")
        time.sleep(1.0)  # until the terminal is quiet
        for _ in range(ROUNDS):
            bare_delays += [_measure_key(bare) for _ in range(KEYS_PER_ROUND)]
            own_delays += [_measure_key(attached) for _ in range(KEYS_PER_ROUND)]
        os.write(attached, b"\x1c")
    print(
        f"  a key and its echo: bare p50 {statistics.median(bare_delays):.2f} ms, p99 {_p99(bare_delays):.2f} ms;"
        f" attached p50 {statistics.median(own_delays):.2f} ms, p99 {_p99(own_delays):.2f} ms"
    )
    value = max(0.0, _p99(own_delays) - _p99(bare_delays))
    return BudgetedFigure(
        "added delay of a key in attach, p99", value, 2.0, "ms", f"a bare pty, {ROUNDS} rounds by turns"
    )


def _p99(values: list[float]) -> float:
    return compute_percentile(values, 0.99)


def _measure_key(terminal: int) -> float:
    begin = time.perf_counter()
    os.write(terminal, b"k")
    while b"k" not in os.read(terminal, 65536):
        pass
    return (time.perf_counter() - begin) * 1000


def _measure_throughput(visor: VisorInstance, folder: str) -> BudgetedFigure:
    path = f"{folder}/output"
    line = b"%07d the quick brown fox jumps over the lazy dog, and on it goes to the end of it\n"
    with open(path, "wb") as file:
        written = 0
        while written < OUTPUT_BYTES:
            written += file.write(b"".join(line % number for number in range(10_000)))
    command = f"stty -opost; echo ready; read x; cat {path}; printf '{END.decode()}'; read x"
    pane = _spawn(visor, folder, "print", command)
    with _attach(visor, pane) as attached:
        own = _measure_output(attached)
        os.write(attached, b"\x1c")
    with _open_terminal(["script", "-qc", command, "/dev/null"], dict(visor.env)) as scripted:
        other = _measure_output(scripted)
    print(f"  {OUTPUT_BYTES / 1e6:.0f} MB: attached {own:.1f} s, script {other:.1f} s")
    return BudgetedFigure("speed of cat in attach", other / own, 0.7, "x", "script(1)", is_floor=True)


def _measure_output(terminal: int) -> float:
    _read_until(terminal, b"ready")
    begin = time.perf_counter()
    os.write(terminal, b"\n")
    _read_until(terminal, END)
    return time.perf_counter() - begin


def _spawn(visor: VisorInstance, folder: str, name: str, script: str) -> int:
    path = f"{folder}/{name}"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o700), "w") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    return visor.call_robot("spawn", "--pty", "--env", f"IN={folder}", "--", path)["new"]["id"]


@contextmanager
def _attach(visor: VisorInstance, pane: int) -> Iterator[int]:
    command = [sys.executable, "-m", "termvisor", "attach", str(pane)]
    with _open_terminal(command, dict(visor.env)) as terminal:
        yield terminal


@contextmanager
def _open_terminal(command: list[str], env: dict[str, str]) -> Iterator[int]:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, {**env, "TERM": "xterm-256color"})
    try:
        yield terminal
    finally:
        os.close(terminal)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _read_until(terminal: int, awaited: bytes) -> None:
    tail = b""
    while awaited not in tail:
        ready, _, _ = select.select([terminal], [], [], 120)
        assert ready, f"nothing printed {awaited!r}"
        tail = (tail + os.read(terminal, 1 << 18))[-(1 << 18) - 32 :]

"""Open many panes that print: each runs `cat` on a FIFO, and one thread writes to all of them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from termvisor.testing.private_tmux import PrivateTmux

PANES_PER_SESSION = 10


def open_panes(tmux: PrivateTmux, folder: str, count: int, command: str = "exec cat {fifo}") -> list[str]:
    """Open the panes, ten windows per session, and return their FIFOs."""
    fifos = []
    for number in range(count):
        fifo = f"{folder}/f{number}"
        os.mkfifo(fifo)
        fifos.append(fifo)
        run = command.format(fifo=fifo)
        if number % PANES_PER_SESSION == 0:
            tmux.start_session(f"s{number // PANES_PER_SESSION}", run)
        else:
            tmux.open_window(f"s{number // PANES_PER_SESSION}", run)
    return fifos


def build_output(turn: int, number: int) -> bytes:
    """Return a rewritten spinner line, and sometimes build output: 3.7 KB/s per pane in ten writes a second."""
    if turn % 5:
        return (
            b"\r\x1b[2K\x1b[36m%s\x1b[0m Thinking about module %d (%d s, esc to interrupt) "
            % (b"|/-\\"[turn % 4 :][:1], number, turn)
            * 4
        )
    lines = [
        b"\r\n  \x1b[32m+\x1b[0m fn handle_%d(request: &Request) -> Result<Answer, Error> { // line %d" % (turn, n)
        for n in range(9)
    ]
    return b"".join(lines) + b"\r\n"


class PaneWriter:
    """Write to every pane, ``interval`` seconds apart; ``build`` gets the number of the turn and of the pane."""

    def __init__(self, fifos: list[str], build: Callable[[int, int], bytes] = build_output, *, interval: float = 0.1):
        self._build, self._interval = build, interval
        self.turns = 0
        self._write_fds = [os.open(fifo, os.O_WRONLY) for fifo in fifos]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            self.turns += 1
            for number, end in enumerate(self._write_fds):
                os.write(end, self._build(self.turns, number))
            self._stop.wait(max(0.0, self._interval - (time.monotonic() - began)))

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        for end in self._write_fds:
            os.close(end)


def read_cpu_seconds(pid: int) -> float:
    """Return user and system time of a process and its ended children."""
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")

"""Measure the cost of the shell integration at every prompt, compared with the same shell without it."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path

from termvisor.model.paths import Paths
from termvisor.setup.shell_integration import build_snippet
from termvisor.system.shell_nonce import load_nonce
from tests.bench.figure import BudgetedFigure, compute_percentile

PLAIN_RC = "HISTFILE= PROMPT_COMMAND= PS1='ready> '\n"
PROMPT_TEXT = b"ready> "


class BashProcess:
    """A real bash on its own pseudo-terminal."""

    def __init__(self, folder: Path, text: str):
        rc = folder / f"rc-{len(text)}"
        rc.write_text(PLAIN_RC + text)
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            env = {**os.environ, "TMUX": "bench", "TERM": "tmux-256color", "HOME": str(folder)}
            os.execvpe("bash", ["bash", "--noprofile", "--rcfile", str(rc), "-i"], env)
        self._wait_for_prompt()

    def time_line(self, line: bytes) -> float:
        """Return the seconds from Enter to the next prompt."""
        began = time.perf_counter()
        os.write(self._terminal, line + b"\r")
        self._wait_for_prompt()
        return time.perf_counter() - began

    def _wait_for_prompt(self) -> None:
        seen, deadline = b"", time.monotonic() + 10
        while PROMPT_TEXT not in seen:
            if not select.select([self._terminal], [], [], deadline - time.monotonic())[0]:
                raise AssertionError(f"no prompt; last: {seen!r}")
            seen += os.read(self._terminal, 65536)
        while select.select([self._terminal], [], [], 0.002)[0]:  # output after the prompt
            os.read(self._terminal, 65536)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)


def measure_prompt_cost(rounds: int = 300) -> list[BudgetedFigure]:
    folder = Path(tempfile.mkdtemp(prefix="tv-"))
    paths = Paths(f"{folder}/config", f"{folder}/data", f"{folder}/run")
    load_nonce(paths.nonce_file)
    plain, integrated = BashProcess(folder, ""), BashProcess(folder, build_snippet("bash", paths).decode())
    try:
        return [
            _measure_line_cost("cost of a prompt, bash", plain, integrated, b"", rounds),
            _measure_line_cost("cost of a command and its prompt, bash", plain, integrated, b":", rounds),
        ]
    finally:
        plain.kill()
        integrated.kill()
        shutil.rmtree(folder)


def _measure_line_cost(
    name: str, plain: BashProcess, integrated: BashProcess, line: bytes, rounds: int
) -> BudgetedFigure:
    pairs = [(plain.time_line(line), integrated.time_line(line)) for _ in range(rounds)]
    bare, full = (1000 * compute_percentile(list(times), 0.5) for times in zip(*pairs, strict=True))
    return BudgetedFigure(name, full - bare, 2.0, "ms", f"the same without it ({bare:.2f} ms), side by side")

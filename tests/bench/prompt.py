"""What a shell that was set up pays at every prompt, beside the same shell without."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path

from termvisor.settings import nonce
from termvisor.setup.shell_integration import snippet
from tests.bench.figure import Figure, percentile

PLAIN = "HISTFILE= PROMPT_COMMAND= PS1='ready> '\n"
READY = b"ready> "


class Shell:
    """A real bash on a terminal of its own."""

    def __init__(self, folder: Path, text: str):
        rc = folder / f"rc-{len(text)}"
        rc.write_text(PLAIN + text)
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            env = {**os.environ, "TMUX": "bench", "TERM": "tmux-256color", "HOME": str(folder)}
            os.execvpe("bash", ["bash", "--noprofile", "--rcfile", str(rc), "-i"], env)
        self._until_ready()

    def takes(self, line: bytes) -> float:
        """Seconds from Enter to the next prompt."""
        began = time.perf_counter()
        os.write(self._terminal, line + b"\r")
        self._until_ready()
        return time.perf_counter() - began

    def _until_ready(self) -> None:
        seen, deadline = b"", time.monotonic() + 10
        while READY not in seen:
            if not select.select([self._terminal], [], [], deadline - time.monotonic())[0]:
                raise AssertionError(f"no prompt; last: {seen!r}")
            seen += os.read(self._terminal, 65536)
        while select.select([self._terminal], [], [], 0.002)[0]:  # what follows the prompt
            os.read(self._terminal, 65536)

    def end(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self._terminal)


def cost(rounds: int = 300) -> list[Figure]:
    folder = Path(tempfile.mkdtemp(prefix="tv-"))
    nonce_file = str(folder / "data" / "nonce")
    nonce(nonce_file)
    plain, ours = Shell(folder, ""), Shell(folder, snippet("bash", nonce_file).decode())
    try:
        return [
            _figure("cost of a prompt, bash", plain, ours, b"", rounds),
            _figure("cost of a command and its prompt, bash", plain, ours, b":", rounds),
        ]
    finally:
        plain.end()
        ours.end()
        shutil.rmtree(folder)


def _figure(name: str, plain: Shell, ours: Shell, line: bytes, rounds: int) -> Figure:
    pairs = [(plain.takes(line), ours.takes(line)) for _ in range(rounds)]
    bare, full = (1000 * percentile(list(times), 0.5) for times in zip(*pairs, strict=True))
    return Figure(name, full - bare, 2.0, "ms", f"the same without it ({bare:.2f} ms), side by side")

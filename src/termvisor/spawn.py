"""The only file that starts programs. Linux-only calls carry their macOS counterpart, which is untested."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import IO

_TIED = (
    "import ctypes, os, sys\n"
    "parent = int(sys.argv[1])\n"
    "if sys.platform == 'linux':\n"
    "    ctypes.CDLL(None).prctl(1, 9)\n"
    "if os.getppid() != parent: os._exit(1)\n"
    "os.execvp(sys.argv[2], sys.argv[2:])\n"
)
"""Sets PR_SET_PDEATHSIG to SIGKILL, then becomes the program. macOS has no such call: there the reader's thread
kills the client on its own stall, and a killed daemon leaves it until its next write fails (untested)."""


def tied(argv: Sequence[str], *, stdin: int, stdout: int, env: Mapping[str, str] | None = None) -> "Child":
    """Start a program that dies with us, even when we are killed. Call from the main thread."""
    command = [sys.executable, "-ISE", "-c", _TIED, str(os.getpid()), *argv]
    return Child(
        subprocess.Popen(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, env=env, start_new_session=True
        )
    )


def detached(argv: Sequence[str], *, log: IO[bytes] | None = None, env: Mapping[str, str] | None = None) -> "Child":
    """Start a program in its own session that goes on without us and without a terminal."""
    out = subprocess.DEVNULL if log is None else log
    return Child(
        subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=env, start_new_session=True, cwd="/"
        )
    )


def ask(
    argv: Sequence[str], *, timeout: float = 10.0, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Run a short program to its end: exit status, output, errors. A missing program is status 127."""
    try:
        done = subprocess.run(argv, capture_output=True, input=stdin, timeout=timeout, env=env, check=False)
    except FileNotFoundError:
        return 127, b"", f"{argv[0]}: not found".encode()
    except subprocess.TimeoutExpired:
        return 124, b"", f"{argv[0]}: no answer within {timeout} s".encode()
    return done.returncode, done.stdout, done.stderr


class Child:
    """A program we started."""

    def __init__(self, process: subprocess.Popen[bytes]):
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """The exit status, or None while it runs. Reaps the child."""
        return self._process.poll()

    def disown(self) -> None:
        """It goes on without us; when it ends is no business of ours."""
        if self._process.poll() is None:
            self._process.returncode = 0  # else Python complains that we leave it running

    def kill(self, number: int = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def wait(self, timeout: float = 5.0) -> int | None:
        """The exit status, or None when it still runs after the timeout."""
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None

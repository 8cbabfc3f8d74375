"""What programs leave running, found by the folder that they were started for.

Agents start servers, updaters and helpers that outlive their pane and have no parent left. What they keep is their
environment: in a test their HOME, TMUX or VISOR_RUNTIME_DIR lies in a folder that no other test has. Whoever carries
that path there was started for it; nobody else is ever ended.
"""

import contextlib
import os
import re
import signal
import sys
from collections.abc import Iterator

from termvisor.system.polling import until

_PATIENCE = 20.0
"""Seconds for the kernel to end programs on a busy machine."""


def end_all_of(folder: str) -> None:
    """End whatever carries this folder or a path in it, and what that started meanwhile. Ours goes on."""
    if not until(lambda: not _ended(folder), _PATIENCE):
        raise AssertionError(f"these of {folder} do not end: {processes(folder)}")


def processes(folder: str) -> dict[int, str]:
    """Command lines by pid."""
    return {pid: command for pid in _pids() if carries(pid, folder) and (command := _command(pid))}


def carries(pid: int, folder: str) -> bool:
    """Whether a value of its environment is that folder, or begins with a path in it."""
    return re.search(rb"=" + re.escape(os.fsencode(folder)) + rb"[/\0]", _read(pid, "environ")) is not None


def _ended(folder: str) -> list[int]:
    return [pid for pid in _pids() if pid != os.getpid() and _end(pid, folder)]


def _end(pid: int, folder: str) -> bool:
    """Whether it was one. It is looked at while it is held, so that no other can have got its number meanwhile."""
    with contextlib.suppress(OSError), _held(pid) as handle:
        if carries(pid, folder):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
    return False


@contextlib.contextmanager
def _held(pid: int) -> Iterator[int]:
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


def _pids() -> list[int]:
    """macOS tells nobody's environment: there what is left is left (untested)."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()] if sys.platform == "linux" else []


def _command(pid: int) -> str:
    return _read(pid, "cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it ended meanwhile, or is not ours
        return b""

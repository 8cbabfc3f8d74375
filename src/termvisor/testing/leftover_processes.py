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

from termvisor.system.polling import wait_until

_KILL_TIMEOUT_S = 20.0
"""Seconds for the kernel to end programs on a busy machine."""


def kill_processes_of(folder: str) -> None:
    """End whatever carries this folder or a path in it, and what that started meanwhile. Ours goes on."""
    if not wait_until(lambda: not _kill_all(folder), _KILL_TIMEOUT_S):
        raise AssertionError(f"these of {folder} do not end: {list_processes(folder)}")


def list_processes(folder: str) -> dict[int, str]:
    """Command lines by pid."""
    return {
        pid: command for pid in _list_pids() if belongs_to_folder(pid, folder) and (command := _read_command_line(pid))
    }


def belongs_to_folder(pid: int, folder: str) -> bool:
    """Whether a value of its environment is that folder, or begins with a path in it."""
    return re.search(rb"=" + re.escape(os.fsencode(folder)) + rb"[/\0]", _read_proc_file(pid, "environ")) is not None


def _kill_all(folder: str) -> list[int]:
    return [pid for pid in _list_pids() if pid != os.getpid() and _kill_if_owned(pid, folder)]


def _kill_if_owned(pid: int, folder: str) -> bool:
    """Whether it was one. It is looked at while it is held, so that no other can have got its number meanwhile."""
    with contextlib.suppress(OSError), _hold_pid(pid) as handle:
        if belongs_to_folder(pid, folder):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            return True
    return False


@contextlib.contextmanager
def _hold_pid(pid: int) -> Iterator[int]:
    handle = os.pidfd_open(pid)
    try:
        yield handle
    finally:
        os.close(handle)


def _list_pids() -> list[int]:
    """macOS tells nobody's environment: there what is left is left (untested)."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()] if sys.platform == "linux" else []


def _read_command_line(pid: int) -> str:
    return _read_proc_file(pid, "cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _read_proc_file(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it ended meanwhile, or is not ours
        return b""

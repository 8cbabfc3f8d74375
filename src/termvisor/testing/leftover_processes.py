"""Find and kill processes that tests leave running, by the test's folder in their environment.

Agents start servers, updaters and helpers that outlive their pane and lose their parent, but keep their environment:
in a test, HOME, TMUX or VISOR_RUNTIME_DIR is a path in a folder that only this test uses. Processes without such a path
are never killed. A reaper process does the same for a test process that was killed itself.
"""

import contextlib
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator
from functools import cache

from termvisor.system import subprocesses
from termvisor.system.retry import wait_until

_KILL_TIMEOUT_S = 20.0
"""Enough for the kernel to end processes on a busy machine."""


def kill_processes_of(folder: str) -> None:
    """Kill all processes of a folder except this one, and those they start meanwhile."""
    if not wait_until(lambda: not _kill_all(folder), _KILL_TIMEOUT_S):
        raise AssertionError(f"processes of {folder} cannot be killed: {list_processes(folder)}")


def register_folder(folder: str) -> None:
    """Have the processes of this folder killed, and the folder removed, when this process exits."""
    os.write(_start_reaper(), f"{folder}\n".encode())


@cache
def _start_reaper() -> int:
    """Start the reaper and return the pipe to it; only this process has it open, so its exit closes the pipe."""
    # The pipe is the only link: its end of file tells the reaper that the test process is gone, however it ended.
    read_end, write_end = os.pipe()
    subprocesses.start_detached([sys.executable, "-m", "termvisor.testing.leftover_processes"], stdin=read_end).disown()
    os.close(read_end)
    return write_end


def list_processes(folder: str) -> dict[int, str]:
    """Return the command lines of a folder's processes by pid."""
    return {
        pid: command for pid in _list_pids() if belongs_to_folder(pid, folder) and (command := _read_command_line(pid))
    }


def belongs_to_folder(pid: int, folder: str) -> bool:
    """Return True if an environment variable of the process is the folder or a path in it."""
    return re.search(rb"=" + re.escape(os.fsencode(folder)) + rb"[/\0]", _read_proc_file(pid, "environ")) is not None


def _kill_all(folder: str) -> list[int]:
    return [pid for pid in _list_pids() if pid != os.getpid() and _kill_if_owned(pid, folder)]


def _kill_if_owned(pid: int, folder: str) -> bool:
    """Kill a process if it belongs to the folder; the pidfd is opened first, so that its pid cannot be reused."""
    # It may exit at any moment, or belong to another user; then there is nothing to kill.
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
    """Return all pids; none on macOS, where the environment of processes cannot be read (untested)."""
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()] if sys.platform == "linux" else []


def _read_command_line(pid: int) -> str:
    return _read_proc_file(pid, "cmdline").replace(b"\0", b" ").decode("utf-8", "replace").strip()


def _read_proc_file(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:  # it exited meanwhile, or belongs to another user
        return b""


def _run_reaper() -> None:
    """Clean the folders named on stdin once the test process has exited; a removed folder is already clean."""
    # Reads to the end of the pipe, which is the exit of the test process.
    for folder in filter(os.path.isdir, sys.stdin.read().split()):
        kill_processes_of(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _run_reaper()

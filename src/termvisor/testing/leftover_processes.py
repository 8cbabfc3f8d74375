"""Find processes that tests leave running, by the test's folder in their environment, and kill them.

Agents start servers, updaters and helpers that outlive their pane and parent but keep their environment. In a test,
HOME, TMUX or VISOR_RUNTIME_DIR is a path in a folder that only this test uses. Processes without such a path
are never killed. A reaper process does the same if the test process itself was killed.
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
"""Seconds to wait for processes to exit, enough on a busy machine."""


def kill_processes_of(folder: str) -> None:
    """Kill all processes of a folder except this one, including those started meanwhile."""
    if not wait_until(lambda: not _kill_all(folder), _KILL_TIMEOUT_S):
        raise AssertionError(f"processes of {folder} cannot be killed: {list_processes(folder)}")


def register_folder(folder: str) -> None:
    """Kill this folder's processes and remove the folder when this process exits."""
    os.write(_start_reaper(), f"{folder}\n".encode())


@cache
def _start_reaper() -> int:
    """Start the reaper and return the pipe to it. Only this process has it open, so exiting closes the pipe."""
    # End of file on the pipe shows the reaper that the test process is gone, no matter how it ended.
    read_end, write_end = os.pipe()
    subprocesses.start_detached([sys.executable, "-m", "termvisor.testing.leftover_processes"], stdin=read_end).disown()
    os.close(read_end)
    return write_end


def list_processes(folder: str) -> dict[int, str]:
    """Return the command lines of a folder's processes, keyed by pid."""
    return {
        pid: command for pid in _list_pids() if belongs_to_folder(pid, folder) and (command := _read_command_line(pid))
    }


def belongs_to_folder(pid: int, folder: str) -> bool:
    """Return True if one of the process's environment variables is the folder or a path in it."""
    return re.search(rb"=" + re.escape(os.fsencode(folder)) + rb"[/\0]", _read_proc_file(pid, "environ")) is not None


def _kill_all(folder: str) -> list[int]:
    return [pid for pid in _list_pids() if pid != os.getpid() and _kill_if_owned(pid, folder)]


def _kill_if_owned(pid: int, folder: str) -> bool:
    """Kill a process if it belongs to the folder. Uses a pidfd, in case the pid is reused."""
    # It may exit at any moment or belong to another user. Then there is nothing to kill.
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
    """Return all pids; none on macOS, where a process's environment cannot be read (untested)."""
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
    """Clean up the folders named on stdin once the test process has exited, unless already removed."""
    # Read until the pipe is closed, which happens when the test process exits.
    for folder in filter(os.path.isdir, sys.stdin.read().split()):
        kill_processes_of(folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _run_reaper()

"""Inspect a pane's terminal from outside: its foreground processes, and whether its input is being read.

Linux only; elsewhere (untested) nothing is known, and callers must treat unknown as "do not act".
"""

import contextlib
import fcntl
import os
import signal
import stat
import struct
import sys
import termios
from collections.abc import Iterable, Iterator

from msgspec import Struct

from termvisor.system import procfs

# Kernel functions (/proc/<pid>/wchan) in which a thread sleeps if it reads its terminal, waits for several descriptors,
# or leaves reading to another thread.
_INPUT_WAIT_CHANNELS = (b"wait_woken", b"n_tty_read", b"poll", b"select", b"futex", b"io_")
_PTY_MAJORS = range(136, 144)
_MINORS_PER_MAJOR = 256


class ForegroundGroup(Struct, frozen=True):
    """A foreground process group; ``is_pane_process`` is True if the pane's first process leads it."""

    group: int
    is_pane_process: bool


def find_foreground(pid: int) -> ForegroundGroup | None:
    """Return the foreground process group of the terminal of ``pid``; None if unknown."""
    process = procfs.read_stat(pid)
    if process is None or process.foreground_group <= 0:
        return None
    return ForegroundGroup(process.foreground_group, process.group == process.foreground_group)


def find_foreground_group(pid: int) -> int:
    """Return the foreground process group of the terminal of ``pid``; 0 if it has no terminal or is unknown."""
    foreground = find_foreground(pid)
    return foreground.group if foreground else 0


def filter_group_members(group: int, pids: Iterable[int]) -> frozenset[int]:
    """Return the processes that belong to this process group."""
    return frozenset(pid for pid in pids if group and _get_process_group(pid) == group)


def is_foreign_group(group: int) -> bool:
    """Return True if this process group exists and this user may signal none of its processes."""
    try:
        os.killpg(group, 0)
    except PermissionError:
        return True
    except OSError:  # it has exited
        return False
    return False


def is_printing_in_pane(pid: int, started: int, pane_pid: int) -> bool | None:
    """Return True if a process is in the foreground of a pane and its output goes there, directly or through a pipe.

    ``pane_pid`` is the first process of the pane. Returns None if the process has exited.
    """
    process, shell = procfs.read_stat(pid), procfs.read_stat(pane_pid)
    if process is None or process.started != started:
        return None
    is_foreground = (
        shell is not None and process.group == shell.foreground_group and process.terminal == shell.terminal != 0
    )
    return is_foreground and _is_printing_to(pid, process.terminal)


def read_terminal_size(path: str) -> tuple[int, int] | None:
    """Return the columns and rows of a terminal; None if it cannot be opened.

    It is closed at once: a terminal that is held open would keep its pane from noticing that its program exited.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # the pane is gone, or the terminal belongs to another user
        return None
    try:
        size = os.get_terminal_size(descriptor)
    except OSError:  # hung up
        return None
    finally:
        os.close(descriptor)
    return size.columns, size.lines


def _get_process_group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:  # it has exited
        return 0


def _is_printing_to(pid: int, terminal: int) -> bool:
    """Return True if stdout is this terminal or a pipe; output that goes to a file is not shown in the pane."""
    try:
        stdout = os.stat(f"/proc/{pid}/fd/1")
    except OSError:  # it has exited, or belongs to another user
        return False
    device = os.makedev(*procfs.split_device_number(terminal))
    return stat.S_ISFIFO(stdout.st_mode) or (stat.S_ISCHR(stdout.st_mode) and stdout.st_rdev == device)


def count_unread_bytes(tty: str) -> int | None:
    """Return the number of input bytes that the terminal's program has not read yet; None if unknown."""
    if sys.platform != "linux":
        return None
    # The pane may close at any moment, and then nothing is known.
    with contextlib.suppress(OSError), _open_tty(tty) as descriptor:
        (count,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))
        return int(count)
    return None


@contextlib.contextmanager
def _open_tty(tty: str) -> Iterator[int]:
    # O_NOCTTY, because this must not become the daemon's controlling terminal.
    descriptor = os.open(tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_busy(pid: int, tty: str) -> bool:
    """Return True if the kernel echoes what is typed while the foreground program certainly reads no input.

    In that case typed text appears on the screen without having been read. Returns False if this is not certain.
    """
    foreground = find_foreground(pid)
    return foreground is not None and read_input_modes(tty) == (True, True) and _is_not_reading_input(foreground.group)


def is_line_editor_active(tty: str) -> bool:
    """Return True if the terminal's program edits lines itself: canonical mode is off. False if unknown."""
    return read_input_modes(tty)[1] is False


def read_input_modes(tty: str) -> tuple[bool, bool] | tuple[None, None]:
    """Return whether the terminal echoes its input, and whether it is in canonical mode; None if unknown."""
    with contextlib.suppress(OSError, termios.error), _open_tty(tty) as descriptor:
        local_flags = termios.tcgetattr(descriptor)[3]
        return bool(local_flags & termios.ECHO), bool(local_flags & termios.ICANON)
    return None, None


def _is_not_reading_input(pid: int) -> bool:
    """Return True if a process is computing or waiting for something other than input, such as its children."""
    process = procfs.read_stat(pid)
    if process is None or process.state in ("R", "D"):
        return process is not None
    wait_channel = procfs.read_file(f"/proc/{pid}/wchan")
    if wait_channel == b"do_wait":
        return all(
            _is_not_reading_input(int(child)) for child in procfs.read_file(f"/proc/{pid}/task/{pid}/children").split()
        )
    return wait_channel not in (b"", b"0") and not any(name in wait_channel for name in _INPUT_WAIT_CHANNELS)


def send_signal(group: int, name: str) -> bool:
    """Send a signal to a process group. Returns False if it no longer exists or belongs to another user."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, getattr(signal, f"SIG{name}"))
        return True
    return False


def find_terminal(pid: int) -> str:
    """Return the controlling terminal of a process, such as ``/dev/pts/3``; empty if it has none."""
    process = procfs.read_stat(pid)
    if process is None:
        return ""
    major, minor = procfs.split_device_number(process.terminal)
    return f"/dev/pts/{minor + (major - _PTY_MAJORS.start) * _MINORS_PER_MAJOR}" if major in _PTY_MAJORS else ""

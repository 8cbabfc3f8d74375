"""A pane's terminal, seen from outside: who is in its foreground, and what its program has not read yet.

Linux; elsewhere (untested) nothing of it is known, and what is not known counts against acting.
"""

import contextlib
import fcntl
import os
import signal
import struct
import sys
import termios
from collections.abc import Iterator

from msgspec import Struct

from termvisor.system.process_start import read_start_time

_INPUT_WAIT_CHANNELS = (b"wait_woken", b"n_tty_read", b"poll", b"select", b"futex", b"io_")
"""Where a thread of a program stands in the kernel that reads its terminal, waits for any of several things, or leaves
that to another thread."""


class ForegroundGroup(Struct, frozen=True):
    """The process group that has the terminal; ``is_pane`` when that is the pane's first process itself."""

    group: int
    is_pane_process: bool


def find_foreground(pid: int) -> ForegroundGroup | None:
    """Of the terminal of this process; None where it cannot be known."""
    fields = _read_stat(pid)
    if fields is None:
        return None
    own, terminal_group = int(fields[2]), int(fields[5])
    return ForegroundGroup(terminal_group, own == terminal_group) if terminal_group > 0 else None


def count_unread_bytes(tty: str) -> int | None:
    """Bytes that wait for whoever reads the terminal next; None where it cannot be known."""
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError), _open_tty(tty) as descriptor:
        (waiting,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))
        return int(waiting)
    return None


@contextlib.contextmanager
def _open_tty(tty: str) -> Iterator[int]:
    descriptor = os.open(tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def is_busy(pid: int, tty: str) -> bool:
    """Whether the terminal itself shows what is typed, and the program in front surely does something else than read.

    Then to be seen does not mean to be read. What is not known for sure is not called busy.
    """
    found = find_foreground(pid)
    return found is not None and _is_echoing(tty) and _is_not_reading_input(found.group)


def _is_echoing(tty: str) -> bool:
    """Whether whole lines are read there, and the kernel shows them while they are typed."""
    with contextlib.suppress(OSError, termios.error), _open_tty(tty) as descriptor:
        local = termios.tcgetattr(descriptor)[3]
        return bool(local & termios.ICANON and local & termios.ECHO)
    return False


def _is_not_reading_input(pid: int) -> bool:
    """Whether it computes, or waits for something that is no input; one that waits for a child is where that is."""
    fields = _read_stat(pid)
    waits_in = _read_file(f"/proc/{pid}/wchan")
    if fields is None or fields[0] in (b"R", b"D"):
        return fields is not None
    if waits_in == b"do_wait":
        return all(
            _is_not_reading_input(int(child)) for child in _read_file(f"/proc/{pid}/task/{pid}/children").split()
        )
    return waits_in not in (b"", b"0") and not any(word in waits_in for word in _INPUT_WAIT_CHANNELS)


def _read_file(path: str) -> bytes:
    """What the system says there; empty where it says nothing."""
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return file.read()
    return b""


def send_signal(group: int, name: str) -> bool:
    """Whether there was anybody to get it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, getattr(signal, f"SIG{name}"))
        return True
    return False


def find_terminal(pid: int) -> str:
    """The terminal that a process belongs to, as ``/dev/pts/3``; empty where it has none."""
    fields = _read_stat(pid)
    if fields is None:
        return ""
    number = int(fields[4])
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    return f"/dev/pts/{minor + (major - 136) * 256}" if 136 <= major <= 143 else ""


def _read_stat(pid: int) -> list[bytes] | None:
    """The fields behind the name: state, parent, group, session, terminal, the terminal's group, …"""
    if sys.platform != "linux" or not read_start_time(pid):
        return None
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None

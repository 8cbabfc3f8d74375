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

from msgspec import Struct

from termvisor.mux.tmux.process import started


class Foreground(Struct, frozen=True):
    """The process group that has the terminal; ``is_pane`` when that is the pane's first process itself."""

    group: int
    is_pane: bool


def foreground(pid: int) -> Foreground | None:
    """Of the terminal of this process; None where it cannot be known."""
    fields = _stat(pid)
    if fields is None:
        return None
    own, terminal_group = int(fields[2]), int(fields[5])
    return Foreground(terminal_group, own == terminal_group) if terminal_group > 0 else None


def unread(tty: str) -> int | None:
    """Bytes that wait for whoever reads the terminal next; None where it cannot be known."""
    if sys.platform != "linux":
        return None
    try:
        descriptor = os.open(tty, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        (waiting,) = struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return int(waiting)


def send_signal(group: int, name: str) -> bool:
    """Whether there was anybody to get it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, getattr(signal, f"SIG{name}"))
        return True
    return False


def terminal_of(pid: int) -> str:
    """The terminal that a process belongs to, as ``/dev/pts/3``; empty where it has none."""
    fields = _stat(pid)
    if fields is None:
        return ""
    number = int(fields[4])
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    return f"/dev/pts/{minor + (major - 136) * 256}" if 136 <= major <= 143 else ""


def _stat(pid: int) -> list[bytes] | None:
    """The fields behind the name: state, parent, group, session, terminal, the terminal's group, …"""
    if sys.platform != "linux" or not started(pid):
        return None
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()
    except OSError:
        return None

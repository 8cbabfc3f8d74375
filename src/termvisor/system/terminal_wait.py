"""Tell whether the program in a terminal waits for input, from what the kernel knows of its threads (Linux only).

A thread of the foreground group that is inside read(2) on the terminal is proof. One that polls the terminal is not:
spinners and clients of other machines poll it all the time. Where the kernel does not let this user look (another
user's program, a restricted ptrace scope), the answer is `unknown`, never `no`.
"""

import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from termvisor.system import procfs, tty

WaitLevel = Literal["reads", "polls", "no", "unknown"]
SyscallKind = Literal["read", "poll", "select", "epoll"]

_X86_64: Mapping[int, SyscallKind] = {
    0: "read",
    19: "read",
    7: "poll",
    271: "poll",
    23: "select",
    270: "select",
    232: "epoll",
    281: "epoll",
    441: "epoll",
}
_GENERIC: Mapping[int, SyscallKind] = {63: "read", 65: "read", 73: "poll", 72: "select", 22: "epoll", 441: "epoll"}
"""The numbers of newer architectures, such as aarch64 and riscv64."""
_SYSCALLS = _X86_64 if platform.machine() == "x86_64" else _GENERIC
_DEV_TTY = os.makedev(5, 0)
_MAX_POLLED = 1024
# A build may start thousands of processes; those in the foreground group of a prompt are few.
_MAX_PROCESSES = 512


class TerminalWait(Struct, frozen=True, kw_only=True):
    """What the foreground program of a terminal does about its input.

    ``is_canonical`` and ``is_echoing`` are the terminal's modes, ``unread`` the typed bytes that are not read yet; None
    if unknown.
    """

    level: WaitLevel
    group: int = 0
    is_canonical: bool | None = None
    is_echoing: bool | None = None
    unread: int | None = None
    is_asleep: bool = False
    """Every process of the group sleeps."""
    cpu_ticks: int = 0

    @property
    def asks_secret(self) -> bool:
        """Return True if the terminal takes a line that it does not show."""
        return self.is_canonical is True and self.is_echoing is False


def probe_terminal(pid: int) -> TerminalWait:
    """Look at the terminal whose first process is ``pid``."""
    first = procfs.read_stat(pid) if sys.platform == "linux" else None
    if first is None or first.foreground_group <= 0:
        return TerminalWait(level="unknown")
    members = list(_list_members(pid, first.foreground_group))
    path = tty.find_terminal(pid)
    is_echoing, is_canonical = tty.read_input_modes(path) if path else (None, None)
    device = os.makedev(*procfs.split_device_number(first.terminal))
    stats = [stat for stat in map(procfs.read_stat, members) if stat is not None]
    return TerminalWait(
        level=_combine(_classify_process(member, device) for member in members),
        group=first.foreground_group,
        is_canonical=is_canonical,
        is_echoing=is_echoing,
        unread=tty.count_unread_bytes(path) if path else None,
        is_asleep=bool(stats) and all(stat.state == "S" for stat in stats),
        cpu_ticks=sum(stat.cpu_ticks for stat in stats),
    )


def _list_members(pid: int, group: int) -> Iterator[int]:
    """Yield the processes of a group below a terminal's first process, without listing all of /proc."""
    waiting, seen = [pid], 0
    while waiting and seen < _MAX_PROCESSES:
        process = waiting.pop()
        seen += 1
        waiting += procfs.list_children(process) or ()
        with suppress(OSError):  # it has exited
            if os.getpgid(process) == group:
                yield process


def _combine(levels: Iterable[WaitLevel]) -> WaitLevel:
    """Return the strongest statement; nothing is known of an empty group."""
    found = set(levels)
    order: tuple[WaitLevel, ...] = ("reads", "unknown", "polls", "no")
    # A thread that must not be looked at could be reading, but one that reads proves it.
    return next((level for level in order if level in found), "unknown")


def _classify_process(pid: int, device: int) -> WaitLevel:
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:  # it has exited
        return "no"
    return _combine(_classify_thread(pid, thread, device) for thread in threads)


def _classify_thread(pid: int, thread: str, device: int) -> WaitLevel:
    try:
        with open(f"/proc/{pid}/task/{thread}/syscall", "rb") as file:
            words = file.read().split()
    except FileNotFoundError:
        return "no"
    except OSError:  # another user's, or restricted by the system
        # It has exited, if its folder is gone.
        return "unknown" if os.path.exists(f"/proc/{pid}") else "no"
    if len(words) < 7 or words[0].startswith(b"-"):
        return "no"  # running, or stopped outside of a system call
    number, *arguments = int(words[0]), *(int(word, 16) for word in words[1:7])
    kind = _SYSCALLS.get(number)
    if kind == "read":
        return "reads" if _is_terminal(pid, arguments[0], device) else "no"
    if kind is None:
        return "no"
    with suppress(OSError, struct.error):
        polled = _POLLED_BY_KIND[kind](pid, arguments)
        return "polls" if any(_is_terminal(pid, descriptor, device) for descriptor in polled) else "no"
    return "unknown"


def _is_terminal(pid: int, descriptor: int, device: int) -> bool:
    try:
        status = os.stat(f"/proc/{pid}/fd/{descriptor}")
    except OSError:  # closed meanwhile
        return False
    return status.st_rdev in (device, _DEV_TTY)


def _list_polled(pid: int, arguments: list[int]) -> list[int]:
    count = min(arguments[1], _MAX_POLLED)
    data = _read_memory(pid, arguments[0], 8 * count)
    polled = struct.iter_unpack("ihh", data)
    return [descriptor for descriptor, events, _ in polled if descriptor >= 0 and events & 1]


def _list_selected(pid: int, arguments: list[int]) -> list[int]:
    count = min(arguments[0], _MAX_POLLED)
    if not arguments[1]:
        return []
    bits = int.from_bytes(_read_memory(pid, arguments[1], (count + 7) // 8), "little")
    return [descriptor for descriptor in range(count) if bits >> descriptor & 1]


def _list_in_epoll(pid: int, arguments: list[int]) -> list[int]:
    with open(f"/proc/{pid}/fdinfo/{arguments[0]}", "rb") as file:
        rows = (line.split() for line in file.read().splitlines() if line.startswith(b"tfd:"))
        return [int(row[1]) for row in rows]


_POLLED_BY_KIND = {"poll": _list_polled, "select": _list_selected, "epoll": _list_in_epoll}


def _read_memory(pid: int, address: int, size: int) -> bytes:
    if not size:
        return b""
    descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, size, address)
    finally:
        os.close(descriptor)

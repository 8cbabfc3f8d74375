"""Find out whether a shell reads what is typed in a pane, from its processes and not from what it prints (Linux only).

A shell is recognised by its executable: the name of the file, or the content of a login shell of this system under
another name. Names that a process chose for itself only add to that, because treating a program as a shell is safe.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from termvisor.system import procfs

_SHELLS = (
    "ash bash csh dash elvish fish hush ksh lksh mksh nu oksh osh posh pwsh rbash rksh sash sh tcsh xonsh yash ysh zsh"
)
_SHELL_NAMES = frozenset(_SHELLS.split())
_REMOTE_SHELLS = "adb docker kubectl lxc machinectl mosh-client nerdctl oc podman rlogin screen ssh telnet tmux zellij"
# They pass what is typed to a shell whose processes are not below them, or not on this machine.
_REMOTE_NAMES = frozenset(_REMOTE_SHELLS.split())
# They run a program below them, on a terminal of their own.
_LOCAL_RELAY_NAMES = frozenset(("doas", "expect", "pkexec", "run0", "runuser", "script", "su", "sudo", "unbuffer"))
_SHELL_LIST = "/etc/shells"
# More processes than this below a pane are not searched; what was not seen may be a shell.
_MAX_PROCESSES = 512


def is_shell_reading(pane_pid: int) -> bool:
    """Return True if a shell, or a program that passes the input on to one, is in the foreground and reads it.

    A shell that waits for its child, or whose standard input is not the terminal, does not read. Returns False if the
    foreground is unknown.
    """
    pane = procfs.read_stat(pane_pid)
    if pane is None or pane.foreground_group <= 0:
        return False
    # The leader may have been adopted by another process, so that it is no longer below the pane's.
    starts = dict.fromkeys((pane.foreground_group, pane_pid))
    return any(is_reading for pid in starts for is_reading in _find_readers(pid, pane.terminal, pane.foreground_group))


def is_shell_name(name: str) -> bool:
    """Return True for the name of a shell, as in a command line."""
    return name.lstrip("-").rstrip("0123456789.-") in _SHELL_NAMES


def is_in_foreground(pid: int, pane_pid: int) -> bool:
    """Return True if a process belongs to the foreground process group of the pane's terminal."""
    process, pane = procfs.read_stat(pid), procfs.read_stat(pane_pid)
    if process is None or pane is None or not pane.terminal:
        return False
    return (process.terminal, process.group) == (pane.terminal, pane.foreground_group)


def _find_readers(start: int, terminal: int, group: int) -> Iterator[bool]:
    """Yield True for each process at or below ``start`` that is a shell and reads this terminal."""
    waiting, seen = [(start, terminal, group)], 0
    while waiting:
        pid, terminal, group = waiting.pop()
        process, seen = procfs.read_stat(pid), seen + 1
        if seen > _MAX_PROCESSES:
            yield True
            return
        if process is None:
            continue
        names = _list_names(pid) if (process.terminal, process.group) == (terminal, group) else frozenset()
        if names & _REMOTE_NAMES or (names and _is_shell(pid, names) and _is_reading(pid, terminal)):
            yield True
        is_relay = bool(names & _LOCAL_RELAY_NAMES)
        for child in procfs.list_children(pid) or ():
            below = procfs.read_stat(child) if is_relay else None
            is_behind = below is not None and below.terminal != terminal
            context = (below.terminal, below.foreground_group) if below and is_behind else (terminal, group)
            waiting.append((child, *context))


def _list_names(pid: int) -> frozenset[str]:
    """Return the names by which a process may be known, without paths and version numbers."""
    process, argv = procfs.read_process(pid), procfs.read_argv(pid)
    names = [process.name if process else "", *argv[:1]]
    # The executable of another user's process cannot be read; its names can.
    with suppress(OSError):
        names.append(os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)"))
    # A login shell begins with a hyphen; some shells have a version in their name, such as ksh93.
    bare = (os.path.basename(name).lstrip("-") for name in names)
    return frozenset(name for text in bare for name in (text, text.rstrip("0123456789.-")) if name)


def _is_shell(pid: int, names: frozenset[str]) -> bool:
    if names & _SHELL_NAMES:
        return True
    with suppress(OSError):
        found = os.stat(f"/proc/{pid}/exe")
        return _is_copy_of_shell(f"/proc/{pid}/exe", (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))
    return False


@lru_cache(maxsize=256)
def _is_copy_of_shell(path: str, identity: tuple[int, int, int, int]) -> bool:
    """Return True if the file has the content of a login shell. ``identity`` is that of the file, for the cache."""
    size = identity[2]
    for shell in _list_login_shells():
        with suppress(OSError):
            if os.path.getsize(shell) == size and _read_file(shell) == _read_file(path):
                return True
    return False


@lru_cache(maxsize=1)
def _list_login_shells() -> tuple[str, ...]:
    try:
        with open(_SHELL_LIST, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:  # a minimal system has no such file
        lines = ["/bin/sh", "/bin/bash"]
    return tuple({os.path.realpath(line) for line in lines if line.startswith("/")})


def _read_file(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _is_reading(pid: int, terminal: int) -> bool:
    if procfs.read_file(f"/proc/{pid}/wchan") == b"do_wait":
        return False
    try:
        stdin = os.stat(f"/proc/{pid}/fd/0")
    except OSError:
        # A process of another user, such as a root shell: assume that it reads.
        return True
    return stat.S_ISCHR(stdin.st_mode) and stdin.st_rdev == os.makedev(*procfs.split_device_number(terminal))

"""Read where a process comes from: its ancestors, session, terminal, control group and some variables.

Reading never raises; what cannot be read is left out, and callers must treat unknown as "not proven".
"""

import os
from collections.abc import Iterable

from msgspec import Struct

from termvisor.system import procfs
from termvisor.system.tty import find_terminal

_MAX_ANCESTORS = 64
"""A cycle of parents cannot happen, but pids may be reused while they are read."""


class OriginProcess(Struct, frozen=True, kw_only=True):
    """One process of a chain of ancestors. ``variables`` are those variables of its environment that were asked for."""

    pid: int
    parent_pid: int
    session_id: int
    started: int
    name: str
    uid: int
    variables: dict[str, str] = {}


class ProcessOrigin(Struct, frozen=True, kw_only=True):
    """A process with its ancestors, nearest first and without process 1, and its controlling terminal."""

    chain: tuple[OriginProcess, ...]
    has_terminal: bool
    tty: str = ""
    """Path of a terminal of a multiplexer, terminal window or ssh; empty for a console."""


def read_origin(pid: int, variables: Iterable[str]) -> ProcessOrigin | None:
    """Return the origin of a process; None if it has exited or cannot be read."""
    names, chain, next_pid = tuple(variables), list[OriginProcess](), pid
    while next_pid > 1 and len(chain) < _MAX_ANCESTORS and (process := procfs.read_process(next_pid)) is not None:
        chain.append(
            OriginProcess(
                pid=process.pid,
                parent_pid=process.parent_pid,
                session_id=process.session_id,
                started=process.started,
                name=process.name,
                uid=_read_uid(next_pid),
                variables=procfs.read_environment(next_pid, names),
            )
        )
        next_pid = process.parent_pid
    if not chain:
        return None
    return ProcessOrigin(chain=tuple(chain), has_terminal=procfs.has_terminal(pid), tty=find_terminal(pid))


def read_cgroup(pid: int) -> bytes:
    """Return the control groups of a process, which its children inherit; empty if they cannot be read."""
    return procfs.read_file(f"/proc/{pid}/cgroup")


def _read_uid(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}").st_uid
    except OSError:  # it has exited
        return -1

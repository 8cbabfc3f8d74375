"""Which processes run in each pane: the tree below the pane's first one, found in one pass for all panes.

A process belongs to a pane when it descends from the pane's process, or when its session is the pane's: that is how
one is found whose parent is gone. What a process is called with is read once for each program that it becomes.
"""

import asyncio
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.system import procfs
from termvisor.system.procfs import ProcessEntry

Pane = TypeVar("Pane", bound=Hashable)


class PaneProcessScanner:
    """``env_names`` are the variables that adapters ask for; no other is kept."""

    def __init__(self, env_names: Iterable[str] = ()):
        self._env_names = tuple(env_names)
        self._processes_by_entry: dict[ProcessEntry, ProcessInfo] = {}
        self.get_root_pids: Callable[[], Collection[int]] = tuple
        """The first processes of all panes: what is below one belongs to that pane alone, also within another."""

    async def scan(self, panes: Mapping[Pane, int]) -> dict[Pane, tuple[ProcessInfo, ...]]:
        """For each pane, given with the pid of its first process, all that runs in it; parents before children.

        In a thread: the kernel may let a reader wait for a process that is being swapped in.
        """
        return await asyncio.to_thread(self.scan_sync, panes)

    def scan_sync(self, panes: Mapping[Pane, int]) -> dict[Pane, tuple[ProcessInfo, ...]]:
        tree = ProcessTree(procfs.list_processes())
        roots = frozenset(self.get_root_pids())
        found = {
            pane: [(entry, self._describe_process(entry)) for entry in tree.list_descendants(pid, roots)]
            for pane, pid in panes.items()
        }
        self._processes_by_entry = {entry: process for pairs in found.values() for entry, process in pairs}
        return {pane: tuple(process for _, process in pairs) for pane, pairs in found.items()}

    def _describe_process(self, entry: ProcessEntry) -> ProcessInfo:
        known = self._processes_by_entry.get(entry)
        return replace(known, cwd=procfs.read_cwd(entry.pid)) if known and known.argv else self._read_process(entry)

    def _read_process(self, entry: ProcessEntry) -> ProcessInfo:
        """What another life of the same pid, or another program, says of itself meanwhile is not taken."""
        argv, cwd = procfs.read_argv(entry.pid), procfs.read_cwd(entry.pid)
        env = procfs.read_environment(entry.pid, self._env_names)
        bare = ProcessInfo(pid=entry.pid, pid_started=entry.started, program=entry.name)
        return replace(bare, argv=argv, cwd=cwd, env=env) if procfs.read_process(entry.pid) == entry else bare


class ProcessTree:
    def __init__(self, entries: Iterable[ProcessEntry]):
        self._entries = {entry.pid: entry for entry in entries}
        self._children: dict[int, list[ProcessEntry]] = {}
        self._sessions: dict[int, list[ProcessEntry]] = {}
        for entry in self._entries.values():
            self._children.setdefault(entry.parent_pid, []).append(entry)
            self._sessions.setdefault(entry.session_id, []).append(entry)

    def list_descendants(self, pid: int, other_roots: frozenset[int] = frozenset()) -> list[ProcessEntry]:
        """The process itself first; empty when it is gone with all of its session. ``others`` have their own trees."""
        roots = [self._entries[pid]] if pid in self._entries else []
        members = self._sessions.get(pid, []) if pid > 0 else []
        apart = other_roots - {pid}
        return list(
            {entry.pid: entry for root in (*roots, *members) for entry in self._walk_from(root, apart)}.values()
        )

    def _walk_from(self, root: ProcessEntry, excluded_pids: frozenset[int]) -> Iterator[ProcessEntry]:
        waiting, seen = [root], {root.pid, *excluded_pids}
        while waiting:
            entry = waiting.pop()
            yield entry
            below = [child for child in self._children.get(entry.pid, ()) if child.pid not in seen]
            seen.update(child.pid for child in below)
            waiting += sorted(below, key=lambda child: child.started, reverse=True)

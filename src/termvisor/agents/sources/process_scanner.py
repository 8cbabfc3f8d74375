"""List the processes of each pane, in one pass over /proc for all panes.

A process belongs to a pane if it descends from the pane's first process, or is in that process's session (which finds
orphans). The command line and environment of a process are read once per program it executes.
"""

import asyncio
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.clock import Clock
from termvisor.system import procfs
from termvisor.system.procfs import ProcessEntry

Pane = TypeVar("Pane", bound=Hashable)


class PaneProcessScanner:
    """Process scanner. ``env_names`` are variables that adapters need; ``get_root_pids`` returns the first processes of
    all panes: their descendants belong only to that pane, even if it runs inside another."""

    def __init__(self, env_names: Iterable[str] = (), get_root_pids: Callable[[], Collection[int]] = tuple):
        self._env_names, self.get_root_pids = tuple(env_names), get_root_pids
        self._processes_by_entry: dict[ProcessEntry, ProcessInfo] = {}

    async def scan(self, panes: Mapping[Pane, int]) -> dict[Pane, tuple[ProcessInfo, ...]]:
        """Return the processes of each pane, parents before children; ``panes`` maps a pane to its first pid."""
        # In a thread, because reading /proc blocks while the process is being swapped in.
        return await asyncio.to_thread(self.scan_sync, panes)

    def scan_sync(self, panes: Mapping[Pane, int]) -> dict[Pane, tuple[ProcessInfo, ...]]:
        tree = ProcessTree(procfs.list_processes())
        roots = frozenset(self.get_root_pids())
        processes = {
            pane: [(entry, self._describe_process(entry)) for entry in tree.list_descendants(pid, roots)]
            for pane, pid in panes.items()
        }
        self._processes_by_entry = {entry: process for pairs in processes.values() for entry, process in pairs}
        return {pane: tuple(process for _, process in pairs) for pane, pairs in processes.items()}

    def _describe_process(self, entry: ProcessEntry) -> ProcessInfo:
        known = self._processes_by_entry.get(entry)
        return replace(known, cwd=procfs.read_cwd(entry.pid)) if known and known.argv else self._read_process(entry)

    def _read_process(self, entry: ProcessEntry) -> ProcessInfo:
        argv, cwd = procfs.read_argv(entry.pid), procfs.read_cwd(entry.pid)
        env = procfs.read_environment(entry.pid, self._env_names)
        bare = ProcessInfo(pid=entry.pid, pid_started=entry.started, program=entry.name)
        now = procfs.read_process(entry.pid)
        # If the pid was reused or another program was executed meanwhile, the values belong to another process. A new
        # name or parent is no other process: agents rename themselves while they start.
        is_same = now is not None and (now.started, now.image) == (entry.started, entry.image)
        return replace(bare, argv=argv, cwd=cwd, env=env) if is_same else bare


class ProcessTree:
    def __init__(self, entries: Iterable[ProcessEntry]):
        self._entries = {entry.pid: entry for entry in entries}
        self._children: dict[int, list[ProcessEntry]] = {}
        self._sessions: dict[int, list[ProcessEntry]] = {}
        for entry in self._entries.values():
            self._children.setdefault(entry.parent_pid, []).append(entry)
            self._sessions.setdefault(entry.session_id, []).append(entry)

    def list_descendants(self, pid: int, other_roots: frozenset[int] = frozenset()) -> list[ProcessEntry]:
        """Return the process and its descendants, excluding the trees of ``other_roots``; empty if all are gone."""
        roots = [self._entries[pid]] if pid in self._entries else []
        members = self._sessions.get(pid, []) if pid > 0 else []
        excluded = other_roots - {pid}
        return list(
            {entry.pid: entry for root in (*roots, *members) for entry in self._walk_from(root, excluded)}.values()
        )

    def _walk_from(self, root: ProcessEntry, excluded_pids: frozenset[int]) -> Iterator[ProcessEntry]:
        pending, seen = [root], {root.pid, *excluded_pids}
        while pending:
            entry = pending.pop()
            yield entry
            children = [child for child in self._children.get(entry.pid, ()) if child.pid not in seen]
            seen.update(child.pid for child in children)
            pending += sorted(children, key=lambda child: child.started, reverse=True)


ProcessRecognizer = Callable[[str, Sequence[ProcessInfo]], ProcessInfo | None]
# Lets a burst of records about one folder share one pass over /proc.
_COUNT_CACHE_S = 1.0


class UnwatchedAgentFinder:
    """Finder of agents outside watched panes; ``env_names`` returns the variables that adapters need."""

    def __init__(self, recognise: ProcessRecognizer, clock: Clock, env_names: Callable[[], Iterable[str]] = tuple):
        self._recognise, self._clock, self._env_names = recognise, clock, env_names
        self._cached_counts: dict[tuple[str, str], tuple[float, int]] = {}

    async def count_in_folder(self, agent: str, cwd: str) -> int:
        """Return how many processes of this agent work in the folder."""
        now, cached = self._clock.monotonic(), self._cached_counts.get((agent, cwd))
        if cached is None or now - cached[0] > _COUNT_CACHE_S:
            groups = await asyncio.to_thread(self.find_process_groups, agent)
            # Only the last folder is kept: a burst of records is about one folder.
            cached = now, sum(any(process.cwd == cwd for process in group) for group in groups)
            self._cached_counts = {(agent, cwd): cached}
        return cached[1]

    async def find_unwatched(self, agent: str, watched_pids: Iterable[int]) -> list[ProcessInfo]:
        """Return the processes of this agent except those in ``watched_pids``."""
        watched = set(watched_pids)
        groups = await asyncio.to_thread(self.find_process_groups, agent)
        return [group[-1] for group in groups if not any(process.pid in watched for process in group)]

    def find_process_groups(self, agent: str) -> list[list[ProcessInfo]]:
        """Return all processes of this agent, a wrapper script and its program as one group, outermost first."""
        entries = {entry.pid: entry for entry in procfs.list_processes()}
        processes = {
            pid: process
            for pid, entry in entries.items()
            if (process := self._recognize_agent(agent, entry)) is not None
        }
        groups: dict[int, list[ProcessInfo]] = {}
        for pid in sorted(processes, key=lambda pid: (processes[pid].pid_started, pid)):
            outermost = [ancestor for ancestor in _iterate_ancestors(pid, entries) if ancestor in processes][-1]
            groups.setdefault(outermost, []).append(processes[pid])
        return list(groups.values())

    def _recognize_agent(self, agent: str, entry: ProcessEntry) -> ProcessInfo | None:
        argv = procfs.read_argv(entry.pid)
        bare = ProcessInfo(pid=entry.pid, pid_started=entry.started, program=entry.name, argv=argv)
        # The environment and cwd are read for matches only: there are hundreds of other processes.
        if not argv or self._recognise(agent, (bare,)) is None:
            return None
        env = procfs.read_environment(entry.pid, self._env_names())
        return replace(bare, cwd=procfs.read_cwd(entry.pid), env=env)


def _iterate_ancestors(pid: int, entries: dict[int, ProcessEntry]) -> Iterator[int]:
    """Yield a process and its ancestors; ``seen`` guards against a reused pid that closes a cycle."""
    seen: set[int] = set()
    while pid in entries and pid not in seen:
        seen.add(pid)
        yield pid
        pid = entries[pid].parent_pid

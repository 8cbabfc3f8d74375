"""Which processes run in each pane: the tree below the pane's first one, found in one pass for all panes.

A process belongs to a pane when it descends from the pane's process, or when its session is the pane's: that is how
one is found whose parent is gone. What a process is called with is read once for each program that it becomes.
"""

import asyncio
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Process
from termvisor.system import procfs as kernel
from termvisor.system.procfs import Entry

Pane = TypeVar("Pane", bound=Hashable)


class Processes:
    """``env_names`` are the variables that adapters ask for; no other is kept."""

    def __init__(self, env_names: Iterable[str] = ()):
        self._names = tuple(env_names)
        self._known: dict[Entry, Process] = {}
        self.roots: Callable[[], Collection[int]] = tuple
        """The first processes of all panes: what is below one belongs to that pane alone, also within another."""

    async def look(self, panes: Mapping[Pane, int]) -> dict[Pane, tuple[Process, ...]]:
        """For each pane, given with the pid of its first process, all that runs in it; parents before children.

        In a thread: the kernel may let a reader wait for a process that is being swapped in.
        """
        return await asyncio.to_thread(self.survey, panes)

    def survey(self, panes: Mapping[Pane, int]) -> dict[Pane, tuple[Process, ...]]:
        tree = Tree(kernel.everyone())
        roots = frozenset(self.roots())
        found = {
            pane: [(entry, self._described(entry)) for entry in tree.below(pid, roots)] for pane, pid in panes.items()
        }
        self._known = {entry: process for pairs in found.values() for entry, process in pairs}
        return {pane: tuple(process for _, process in pairs) for pane, pairs in found.items()}

    def _described(self, entry: Entry) -> Process:
        known = self._known.get(entry)
        return replace(known, cwd=kernel.cwd(entry.pid)) if known and known.argv else self._read(entry)

    def _read(self, entry: Entry) -> Process:
        """What another life of the same pid, or another program, says of itself meanwhile is not taken."""
        argv, cwd = kernel.argv(entry.pid), kernel.cwd(entry.pid)
        env = kernel.variables(entry.pid, self._names)
        bare = Process(pid=entry.pid, pid_started=entry.started, program=entry.name)
        return replace(bare, argv=argv, cwd=cwd, env=env) if kernel.entry(entry.pid) == entry else bare


class Tree:
    def __init__(self, entries: Iterable[Entry]):
        self._entries = {entry.pid: entry for entry in entries}
        self._children: dict[int, list[Entry]] = {}
        self._sessions: dict[int, list[Entry]] = {}
        for entry in self._entries.values():
            self._children.setdefault(entry.parent, []).append(entry)
            self._sessions.setdefault(entry.session, []).append(entry)

    def below(self, pid: int, others: frozenset[int] = frozenset()) -> list[Entry]:
        """The process itself first; empty when it is gone with all of its session. ``others`` have their own trees."""
        roots = [self._entries[pid]] if pid in self._entries else []
        members = self._sessions.get(pid, []) if pid > 0 else []
        apart = others - {pid}
        return list({entry.pid: entry for root in (*roots, *members) for entry in self._from(root, apart)}.values())

    def _from(self, root: Entry, apart: frozenset[int]) -> Iterator[Entry]:
        waiting, seen = [root], {root.pid, *apart}
        while waiting:
            entry = waiting.pop()
            yield entry
            below = [child for child in self._children.get(entry.pid, ()) if child.pid not in seen]
            seen.update(child.pid for child in below)
            waiting += sorted(below, key=lambda child: child.started, reverse=True)

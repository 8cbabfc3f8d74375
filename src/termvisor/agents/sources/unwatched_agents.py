"""Find agent processes anywhere on this machine, also in terminals that are not watched.

Some records name only a folder. They can be attributed only if a single agent works in that folder.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.clock import Clock
from termvisor.system import procfs
from termvisor.system.procfs import ProcessEntry

ProcessRecognizer = Callable[[str, Sequence[ProcessInfo]], ProcessInfo | None]
_COUNT_CACHE_S = 1.0
"""A burst of records of one folder needs one pass over /proc."""


class UnwatchedAgentFinder:
    """``env_names`` returns the variables that adapters need. Processes of other users may not be readable."""

    def __init__(self, recognise: ProcessRecognizer, clock: Clock, env_names: Callable[[], Iterable[str]] = tuple):
        self._recognise, self._clock, self._env_names = recognise, clock, env_names
        self._cached_counts: dict[tuple[str, str], tuple[float, int]] = {}

    async def count_in_folder(self, agent: str, cwd: str) -> int:
        """Return how many processes of this agent work in the folder."""
        now, cached = self._clock.monotonic(), self._cached_counts.get((agent, cwd))
        if cached is None or now - cached[0] > _COUNT_CACHE_S:
            groups = await asyncio.to_thread(self.find_process_groups, agent)
            cached = now, sum(any(process.cwd == cwd for process in group) for group in groups)
            self._cached_counts = {(agent, cwd): cached}
        return cached[1]

    async def find_unwatched(self, agent: str, watched_pids: Iterable[int]) -> list[ProcessInfo]:
        """Return the processes of this agent without those of ``watched_pids``."""
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

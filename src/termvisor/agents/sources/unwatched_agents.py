"""Agents anywhere on this machine, also in terminals that nobody watches: who works in a folder beside ours.

Some of what agents tell names no process, only a folder. That proves something only where one alone works there.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.clock import Clock
from termvisor.system import procfs
from termvisor.system.procfs import ProcessEntry

ProcessRecognizer = Callable[[str, Sequence[ProcessInfo]], ProcessInfo | None]
_COUNT_CACHE_S = 1.0


class UnwatchedAgentFinder:
    """``env_names`` are the variables that adapters ask for. Processes of other people may not be ours to see."""

    def __init__(self, recognise: ProcessRecognizer, clock: Clock, env_names: Callable[[], Iterable[str]] = tuple):
        self._recognise, self._clock, self._env_names = recognise, clock, env_names
        self._cached_counts: dict[tuple[str, str], tuple[float, int]] = {}

    async def count_in_folder(self, agent: str, cwd: str) -> int:
        """How many of this agent work in the folder."""
        now, known = self._clock.monotonic(), self._cached_counts.get((agent, cwd))
        if known is None or now - known[0] > _COUNT_CACHE_S:
            found = await asyncio.to_thread(self.find_process_groups, agent)
            known = now, sum(any(one.cwd == cwd for one in crew) for crew in found)
            self._cached_counts = {(agent, cwd): known}
        return known[1]

    async def find_unwatched(self, agent: str, watched_pids: Iterable[int]) -> list[ProcessInfo]:
        """Those of this agent that are none of the known processes."""
        ours = set(watched_pids)
        found = await asyncio.to_thread(self.find_process_groups, agent)
        return [crew[-1] for crew in found if not any(one.pid in ours for one in crew)]

    def find_process_groups(self, agent: str) -> list[list[ProcessInfo]]:
        """All of this agent; a program and the script that started it are one of them, the outer first."""
        entries = {entry.pid: entry for entry in procfs.list_processes()}
        found = {pid: one for pid, entry in entries.items() if (one := self._recognise_agent(agent, entry)) is not None}
        crews: dict[int, list[ProcessInfo]] = {}
        for pid in sorted(found, key=lambda one: (found[one].pid_started, one)):
            outermost = [above for above in _iterate_ancestors(pid, entries) if above in found][-1]
            crews.setdefault(outermost, []).append(found[pid])
        return list(crews.values())

    def _recognise_agent(self, agent: str, entry: ProcessEntry) -> ProcessInfo | None:
        argv = procfs.read_argv(entry.pid)
        bare = ProcessInfo(pid=entry.pid, pid_started=entry.started, program=entry.name, argv=argv)
        if not argv or self._recognise(agent, (bare,)) is None:
            return None
        env = procfs.read_environment(entry.pid, self._env_names())
        return ProcessInfo(
            pid=entry.pid,
            pid_started=entry.started,
            program=entry.name,
            argv=argv,
            cwd=procfs.read_cwd(entry.pid),
            env=env,
        )


def _iterate_ancestors(pid: int, entries: dict[int, ProcessEntry]) -> Iterator[int]:
    """A process and all above it."""
    seen: set[int] = set()
    while pid in entries and pid not in seen:
        seen.add(pid)
        yield pid
        pid = entries[pid].parent_pid

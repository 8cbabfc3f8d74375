"""Agents anywhere on this machine, also in terminals that nobody watches: who works in a folder beside ours.

Some of what agents tell names no process, only a folder. That proves something only where one alone works there.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence

from termvisor.agents.adapters.adapter import Process
from termvisor.clock import Clock
from termvisor.system import procfs as kernel
from termvisor.system.procfs import Entry

Recognise = Callable[[str, Sequence[Process]], Process | None]
_AGAIN_AFTER = 1.0


class Elsewhere:
    """``env_names`` are the variables that adapters ask for. Processes of other people may not be ours to see."""

    def __init__(self, recognise: Recognise, clock: Clock, env_names: Callable[[], Iterable[str]] = tuple):
        self._recognise, self._clock, self._env_names = recognise, clock, env_names
        self._counted: dict[tuple[str, str], tuple[float, int]] = {}

    async def count(self, agent: str, cwd: str) -> int:
        """How many of this agent work in the folder."""
        now, known = self._clock.monotonic(), self._counted.get((agent, cwd))
        if known is None or now - known[0] > _AGAIN_AFTER:
            found = await asyncio.to_thread(self.crews, agent)
            known = now, sum(any(one.cwd == cwd for one in crew) for crew in found)
            self._counted = {(agent, cwd): known}
        return known[1]

    async def beside(self, agent: str, known: Iterable[int]) -> list[Process]:
        """Those of this agent that are none of the known processes."""
        ours = set(known)
        found = await asyncio.to_thread(self.crews, agent)
        return [crew[-1] for crew in found if not any(one.pid in ours for one in crew)]

    def crews(self, agent: str) -> list[list[Process]]:
        """All of this agent; a program and the script that started it are one of them, the outer first."""
        entries = {entry.pid: entry for entry in kernel.everyone()}
        found = {pid: one for pid, entry in entries.items() if (one := self._agent(agent, entry)) is not None}
        crews: dict[int, list[Process]] = {}
        for pid in sorted(found, key=lambda one: (found[one].pid_started, one)):
            outermost = [above for above in _line(pid, entries) if above in found][-1]
            crews.setdefault(outermost, []).append(found[pid])
        return list(crews.values())

    def _agent(self, agent: str, entry: Entry) -> Process | None:
        argv = kernel.argv(entry.pid)
        bare = Process(pid=entry.pid, pid_started=entry.started, program=entry.name, argv=argv)
        if not argv or self._recognise(agent, (bare,)) is None:
            return None
        env = kernel.variables(entry.pid, self._env_names())
        return Process(
            pid=entry.pid,
            pid_started=entry.started,
            program=entry.name,
            argv=argv,
            cwd=kernel.cwd(entry.pid),
            env=env,
        )


def _line(pid: int, entries: dict[int, Entry]) -> Iterator[int]:
    """A process and all above it."""
    seen: set[int] = set()
    while pid in entries and pid not in seen:
        seen.add(pid)
        yield pid
        pid = entries[pid].parent

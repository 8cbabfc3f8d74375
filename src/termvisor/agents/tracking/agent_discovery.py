"""Finds agents among the processes of panes, and says when they begin and end.

What comes in: which panes printed, what happened to panes, ends of processes. What goes out: facts. A quiet pane costs
nothing: one is looked at when it printed and another program has its terminal, now and then while it goes on printing,
and all together once a minute.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from termvisor.agents.adapters.adapter import Process
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.pane_agent import Candidate, candidates, choose
from termvisor.agents.tracking.pane_info import Standing
from termvisor.agents.tracking.tracker import Knowing
from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.agent.agent_process import Fact, PaneClosed, PaneMissed, Runtime, RuntimeBegan, RuntimeEnded
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.system.foreground_process import began_at, foreground, members

_SOON = 0.1
"""Seconds from the first output to a look: the program that prints has begun by then."""
_APART = 1.0
_SELDOM = 30.0
_SWEEP = 60.0
_QUIET_FOR = 10.0
"""Seconds after which commands are compared though nothing was printed."""


class Processes(Protocol):
    async def look(self, panes: Mapping[PaneId, int]) -> Mapping[PaneId, Sequence[Process]]:
        """What runs in each pane, given with its first process; parents before children."""


class Follower(Protocol):
    """Who must know of every agent that lives."""

    def follow(self, runtime: Runtime, process: Process) -> None:
        """It lives, and this is its process; may be told more than once."""

    def leave(self, runtime: Runtime) -> None: ...

    def watch_end(self, pid: int, started: int) -> bool:
        """Tell `Recognition.ended` when this process ends; False where that cannot be heard."""


class _Looked(Struct):
    """When a pane was last looked at, and what was in front then."""

    pid: int
    command: str
    group: int
    due: float
    pause: float = _APART

    def put_off(self, now: float) -> bool:
        """Looked at now, and next after twice as long."""
        self.pause = min(_SELDOM, 2 * self.pause)
        self.due = now + self.pause
        return True


class Recognition:
    def __init__(self, knowing: Knowing, circle: Circle, processes: Processes, clock: Clock):
        self._knowing, self._circle, self._processes, self._clock = knowing, circle, processes, clock
        self.panes: Callable[[], Iterable[Standing]] = lambda: ()
        self.follower: Follower | None = None
        self.last_words: Callable[[PaneId], None] = lambda pane: None
        """Called before an end is told, so that what was printed up to it is heard first."""
        self._looked: dict[PaneId, _Looked] = {}
        self._followed: dict[RuntimeId, Runtime] = {}
        self._urgent: set[PaneId] = set()
        self._swept_at = self._passed_at = -_SWEEP
        self._turn = asyncio.Lock()
        self._missed = 0
        self.looks = 0
        """How many panes were looked at whole: what that costs is ours to show."""

    async def run(self, output: Subscription[PaneId]) -> None:
        """Until it is cancelled; begins with a look at all panes."""
        await self.look()
        while True:
            await self.look(await self._stirred(output))

    async def hear(self, events: Subscription[Event]) -> None:
        """What happened to panes, until it is cancelled."""
        while True:
            event = await events.get()
            if event.pane is None:
                continue
            if event.kind == "pane_gone":
                self._looked.pop(event.pane, None)
                await self._tell([PaneClosed(at=event.at, pane=event.pane)] * self._had_agent(event.pane))
            elif event.kind == "gap_recorded" and event.pane in self._knowing.living:
                await self._tell([PaneMissed(at=event.at, pane=event.pane)])
            elif event.kind in ("pane_died", "pane_respawned", "pane_appeared"):
                await self.look({event.pane})

    def _had_agent(self, pane: PaneId) -> bool:
        """Now, or until just before."""
        return pane in self._knowing.living or pane in self._knowing.standing.story.broken_off

    def ended(self, pid: int, started: int) -> None:
        """A process that was followed is gone. What else runs in its pane is looked for soon."""
        gone = [one for one in self._followed.values() if (one.pid, one.pid_started) == (pid, started)]
        for one in gone:
            self.last_words(one.pane)
        self._knowing.take(RuntimeEnded(at=self._clock.now(), runtime=one.id) for one in gone)
        for one in gone:
            self._leave(one)
            self._urgent.add(one.pane)

    async def look(self, stirred: set[PaneId] | None = None) -> None:
        """At those of the panes that printed and may have another program now; None: at all."""
        async with self._turn:
            known = list(self.panes())
            now = self._passed_at = self._clock.monotonic()
            if stirred is None or now >= self._swept_at + _SWEEP:
                self._swept_at, stirred = now, {one.pane for one in known}
                self._looked = {}
            wanted = [one for one in known if self._is_due(one, stirred, now)]
            if wanted:
                wanted += [one for one in known if one.pane in stirred and self._is_half_due(one, now)]
                await self._survey(wanted)
            self._urgent.clear()

    async def bury(self, existing: Iterable[PaneId]) -> None:
        """End agents whose pane went while nobody watched."""
        gone = self._knowing.living.keys() - set(existing)
        await self._tell([PaneClosed(at=self._clock.now(), pane=pane) for pane in sorted(gone)])

    async def _survey(self, wanted: Sequence[Standing]) -> None:
        trees = await self._processes.look({one.pane: one.pid for one in wanted})
        self.looks += len(wanted)
        found = {one: tree for one in wanted if (tree := trees.get(one.pane, ())) is not None}
        chosen = {one: self._choose(one, tree) for one, tree in found.items()}
        await self._tell([fact for one, tree in found.items() for fact in self._judge(one, tree, chosen[one])])
        for one, candidate in chosen.items():
            self._follow(one.pane, candidate)

    def _is_due(self, one: Standing, stirred: set[PaneId], now: float) -> bool:
        """Reads at most one small file of the kernel."""
        last = self._looked.get(one.pane)
        is_urgent = one.pane in self._urgent
        is_same = last is not None and (last.pid, last.command) == (one.pid, one.command)
        if is_same and one.pane not in stirred and not is_urgent:
            return False
        group = foreground(one.pid)
        if last is None or not is_same or last.group != group or is_urgent:
            self._looked[one.pane] = _Looked(one.pid, one.command, group, due=now + _APART)
            return True
        return now >= last.due and last.put_off(now)

    def _is_half_due(self, one: Standing, now: float) -> bool:
        """A pass is made anyway: who would need one soon takes part, so that there are fewer."""
        last = self._looked[one.pane]
        return last.due > now >= last.due - last.pause / 2 and last.put_off(now)

    def _choose(self, one: Standing, tree: Sequence[Process]) -> Candidate | None:
        current = self._knowing.runtime_in(one.pane)
        front = members(foreground(one.pid), (process.pid for process in tree))
        found = candidates(self._circle.adapters, tree, front, self._circle.recognise)
        return choose(found, None if current is None else (current.pid, current.pid_started))

    def _judge(self, one: Standing, tree: Sequence[Process], chosen: Candidate | None) -> list[Fact]:
        now, current = self._clock.now(), self._knowing.runtime_in(one.pane)
        life = (current.pid, current.pid_started) if current is not None else (0, 0)
        if chosen is not None and chosen.life != life:
            return [RuntimeBegan(at=now, runtime=self._runtime(one, chosen, now))]
        lives = {(process.pid, process.pid_started) for process in tree}
        if current is not None and current.pid and life not in lives:
            return [RuntimeEnded(at=now, runtime=current.id)]
        return []

    def _runtime(self, one: Standing, chosen: Candidate, now: int) -> Runtime:
        return Runtime(
            id=self._knowing.new_runtime(),
            pane=one.pane,
            place=one.place,
            generation=one.generation,
            agent=chosen.agent,
            pid=chosen.process.pid,
            pid_started=chosen.process.pid_started,
            cwd=chosen.process.cwd,
            started_at=began_at(chosen.process.pid_started, now),
        )

    def _follow(self, pane: PaneId, chosen: Candidate | None) -> None:
        for gone in [one for one in self._followed.values() if one.pane == pane and not self._lives(one)]:
            self._leave(gone)
        runtime = self._knowing.runtime_in(pane)
        if chosen is None or runtime is None or runtime.id in self._followed or self.follower is None:
            return
        self._followed[runtime.id] = runtime
        self.follower.follow(runtime, chosen.process)
        self.follower.watch_end(runtime.pid, runtime.pid_started)

    def _lives(self, runtime: Runtime) -> bool:
        here = self._knowing.runtime_in(runtime.pane)
        return here is not None and here.id == runtime.id

    def _leave(self, runtime: Runtime) -> None:
        self._followed.pop(runtime.id, None)
        if self.follower is not None:
            self.follower.leave(runtime)

    async def _tell(self, facts: list[Fact]) -> None:
        """Whoever is refused now is found again by the next look."""
        if facts and self._knowing.take(facts):
            await self._knowing.stored()
            for gone in [one for one in self._followed.values() if not self._lives(one)]:
                self._leave(gone)

    async def _stirred(self, output: Subscription[PaneId]) -> set[PaneId] | None:
        """The panes that printed; None when some of them may have been missed."""
        try:
            async with asyncio.timeout(_QUIET_FOR):
                first = {await output.get()}
        except TimeoutError:
            return set(self._urgent)
        await self._clock.sleep(max(_SOON, self._passed_at + _APART - self._clock.monotonic()))
        missed, self._missed = output.missed - self._missed, output.missed
        return None if missed else first | set(output.drain()) | self._urgent

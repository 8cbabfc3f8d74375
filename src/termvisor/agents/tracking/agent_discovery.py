"""Finds agents among the processes of panes, and says when they begin and end.

What comes in: which panes printed, what happened to panes, ends of processes. What goes out: facts. A quiet pane costs
nothing: one is looked at when it printed and another program has its terminal, now and then while it goes on printing,
and all together once a minute.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_candidates import AgentCandidate, choose_candidate, find_candidates
from termvisor.agents.tracking.pane_info import PaneInfo
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.agent.agent_process import AgentExited, AgentProcess, AgentStarted, Fact, OutputMissed, PaneClosed
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.system.foreground_process import compute_start_instant, filter_group_members, find_foreground_group

_FIRST_SCAN_DELAY_S = 0.1
"""Seconds from the first output to a look: the program that prints has begun by then."""
_MIN_SCAN_INTERVAL_S = 1.0
_MAX_SCAN_INTERVAL_S = 30.0
_FULL_SCAN_INTERVAL_S = 60.0
_QUIET_TIMEOUT_S = 10.0
"""Seconds after which commands are compared though nothing was printed."""


class ProcessScanner(Protocol):
    async def scan(self, panes: Mapping[PaneId, int]) -> Mapping[PaneId, Sequence[ProcessInfo]]:
        """What runs in each pane, given with its first process; parents before children."""


class AgentFollower(Protocol):
    """Who must know of every agent that lives."""

    def follow(self, agent_process: AgentProcess, process: ProcessInfo) -> None:
        """It lives, and this is its process; may be told more than once."""

    def leave(self, agent_process: AgentProcess) -> None: ...

    def watch_end(self, pid: int, started: int) -> bool:
        """Tell `Recognition.ended` when this process ends; False where that cannot be heard."""


class _PaneScanState(Struct):
    """When a pane was last looked at, and what was in front then."""

    pid: int
    command: str
    foreground_group: int
    due_at: float
    interval_s: float = _MIN_SCAN_INTERVAL_S

    def postpone(self, now: float) -> bool:
        """Looked at now, and next after twice as long."""
        self.interval_s = min(_MAX_SCAN_INTERVAL_S, 2 * self.interval_s)
        self.due_at = now + self.interval_s
        return True


class AgentDiscovery:
    def __init__(self, tracker: AgentTracker, registry: AdapterRegistry, process_scanner: ProcessScanner, clock: Clock):
        self._tracker, self._registry, self._process_scanner, self._clock = tracker, registry, process_scanner, clock
        self.list_panes: Callable[[], Iterable[PaneInfo]] = lambda: ()
        self.follower: AgentFollower | None = None
        self.flush_output: Callable[[PaneId], None] = lambda pane: None
        """Called before an end is told, so that what was printed up to it is heard first."""
        self._scan_states: dict[PaneId, _PaneScanState] = {}
        self._followed_agents: dict[RuntimeId, AgentProcess] = {}
        self._urgent_panes: set[PaneId] = set()
        self._last_full_scan_at = self._last_scan_at = -_FULL_SCAN_INTERVAL_S
        self._scan_lock = asyncio.Lock()
        self._missed_output_count = 0
        self.scanned_pane_count = 0
        """How many panes were looked at whole: what that costs is ours to show."""

    async def run(self, output: Subscription[PaneId]) -> None:
        """Until it is cancelled; begins with a look at all panes."""
        await self.scan()
        while True:
            await self.scan(await self._wait_for_output(output))

    async def follow_pane_events(self, events: Subscription[Event]) -> None:
        """What happened to panes, until it is cancelled."""
        while True:
            event = await events.get()
            if event.pane is None:
                continue
            if event.kind == "pane_gone":
                self._scan_states.pop(event.pane, None)
                await self._submit_facts(
                    [PaneClosed(at=event.at, pane=event.pane)] * self._has_or_had_agent(event.pane)
                )
            elif event.kind == "gap_recorded" and event.pane in self._tracker.agents_by_pane:
                await self._submit_facts([OutputMissed(at=event.at, pane=event.pane)])
            elif event.kind in ("pane_died", "pane_respawned", "pane_appeared"):
                await self.scan({event.pane})

    def _has_or_had_agent(self, pane: PaneId) -> bool:
        """Now, or until just before."""
        return pane in self._tracker.agents_by_pane or pane in self._tracker.state.story.broken_off

    def handle_process_exit(self, pid: int, started: int) -> None:
        """A process that was followed is gone. What else runs in its pane is looked for soon."""
        gone = [one for one in self._followed_agents.values() if (one.pid, one.pid_started) == (pid, started)]
        for one in gone:
            self.flush_output(one.pane)
        self._tracker.submit_facts(AgentExited(at=self._clock.now(), runtime=one.id) for one in gone)
        for one in gone:
            self._unfollow(one)
            self._urgent_panes.add(one.pane)

    async def scan(self, active_panes: set[PaneId] | None = None) -> None:
        """At those of the panes that printed and may have another program now; None: at all."""
        async with self._scan_lock:
            known = list(self.list_panes())
            now = self._last_scan_at = self._clock.monotonic()
            if active_panes is None or now >= self._last_full_scan_at + _FULL_SCAN_INTERVAL_S:
                self._last_full_scan_at, active_panes = now, {one.pane for one in known}
                self._scan_states = {}
            wanted = [one for one in known if self._is_due(one, active_panes, now)]
            if wanted:
                wanted += [one for one in known if one.pane in active_panes and self._is_almost_due(one, now)]
                await self._scan_panes(wanted)
            self._urgent_panes.clear()

    async def end_agents_of_gone_panes(self, existing_panes: Iterable[PaneId]) -> None:
        """End agents whose pane went while nobody watched."""
        gone = self._tracker.agents_by_pane.keys() - set(existing_panes)
        await self._submit_facts([PaneClosed(at=self._clock.now(), pane=pane) for pane in sorted(gone)])

    async def _scan_panes(self, panes: Sequence[PaneInfo]) -> None:
        trees = await self._process_scanner.scan({one.pane: one.pid for one in panes})
        self.scanned_pane_count += len(panes)
        found = {one: tree for one in panes if (tree := trees.get(one.pane, ())) is not None}
        chosen = {one: self._choose_candidate(one, tree) for one, tree in found.items()}
        await self._submit_facts(
            [fact for one, tree in found.items() for fact in self._derive_facts(one, tree, chosen[one])]
        )
        for one, candidate in chosen.items():
            self._follow_candidate(one.pane, candidate)

    def _is_due(self, pane_info: PaneInfo, active_panes: set[PaneId], now: float) -> bool:
        """Reads at most one small file of the kernel."""
        last = self._scan_states.get(pane_info.pane)
        is_urgent = pane_info.pane in self._urgent_panes
        is_same = last is not None and (last.pid, last.command) == (pane_info.pid, pane_info.command)
        if is_same and pane_info.pane not in active_panes and not is_urgent:
            return False
        group = find_foreground_group(pane_info.pid)
        if last is None or not is_same or last.foreground_group != group or is_urgent:
            self._scan_states[pane_info.pane] = _PaneScanState(
                pane_info.pid, pane_info.command, group, due_at=now + _MIN_SCAN_INTERVAL_S
            )
            return True
        return now >= last.due_at and last.postpone(now)

    def _is_almost_due(self, pane_info: PaneInfo, now: float) -> bool:
        """A pass is made anyway: who would need one soon takes part, so that there are fewer."""
        last = self._scan_states[pane_info.pane]
        return last.due_at > now >= last.due_at - last.interval_s / 2 and last.postpone(now)

    def _choose_candidate(self, pane_info: PaneInfo, tree: Sequence[ProcessInfo]) -> AgentCandidate | None:
        current = self._tracker.find_agent_in_pane(pane_info.pane)
        front = filter_group_members(find_foreground_group(pane_info.pid), (process.pid for process in tree))
        found = find_candidates(self._registry.adapters, tree, front, self._registry.find_process)
        return choose_candidate(found, None if current is None else (current.pid, current.pid_started))

    def _derive_facts(
        self, pane_info: PaneInfo, tree: Sequence[ProcessInfo], chosen: AgentCandidate | None
    ) -> list[Fact]:
        now, current = self._clock.now(), self._tracker.find_agent_in_pane(pane_info.pane)
        life = (current.pid, current.pid_started) if current is not None else (0, 0)
        if chosen is not None and chosen.process_key != life:
            return [AgentStarted(at=now, runtime=self._build_agent_process(pane_info, chosen, now))]
        lives = {(process.pid, process.pid_started) for process in tree}
        if current is not None and current.pid and life not in lives:
            return [AgentExited(at=now, runtime=current.id)]
        return []

    def _build_agent_process(self, pane_info: PaneInfo, chosen: AgentCandidate, now: int) -> AgentProcess:
        return AgentProcess(
            id=self._tracker.allocate_agent_process_id(),
            pane=pane_info.pane,
            place=pane_info.place,
            generation=pane_info.generation,
            agent=chosen.agent,
            pid=chosen.process.pid,
            pid_started=chosen.process.pid_started,
            cwd=chosen.process.cwd,
            started_at=compute_start_instant(chosen.process.pid_started, now),
        )

    def _follow_candidate(self, pane: PaneId, chosen: AgentCandidate | None) -> None:
        for gone in [one for one in self._followed_agents.values() if one.pane == pane and not self._is_alive(one)]:
            self._unfollow(gone)
        runtime = self._tracker.find_agent_in_pane(pane)
        if chosen is None or runtime is None or runtime.id in self._followed_agents or self.follower is None:
            return
        self._followed_agents[runtime.id] = runtime
        self.follower.follow(runtime, chosen.process)
        self.follower.watch_end(runtime.pid, runtime.pid_started)

    def _is_alive(self, agent_process: AgentProcess) -> bool:
        here = self._tracker.find_agent_in_pane(agent_process.pane)
        return here is not None and here.id == agent_process.id

    def _unfollow(self, agent_process: AgentProcess) -> None:
        self._followed_agents.pop(agent_process.id, None)
        if self.follower is not None:
            self.follower.leave(agent_process)

    async def _submit_facts(self, facts: list[Fact]) -> None:
        """Whoever is refused now is found again by the next look."""
        if facts and self._tracker.submit_facts(facts):
            await self._tracker.wait_stored()
            for gone in [one for one in self._followed_agents.values() if not self._is_alive(one)]:
                self._unfollow(gone)

    async def _wait_for_output(self, output: Subscription[PaneId]) -> set[PaneId] | None:
        """The panes that printed; None when some of them may have been missed."""
        try:
            async with asyncio.timeout(_QUIET_TIMEOUT_S):
                first = {await output.get()}
        except TimeoutError:
            return set(self._urgent_panes)
        await self._clock.sleep(
            max(_FIRST_SCAN_DELAY_S, self._last_scan_at + _MIN_SCAN_INTERVAL_S - self._clock.monotonic())
        )
        missed, self._missed_output_count = output.dropped_count - self._missed_output_count, output.dropped_count
        return None if missed else first | set(output.drain()) | self._urgent_panes

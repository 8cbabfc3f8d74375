"""Find agents among the processes of panes, and submit facts when they start or exit (`AgentDiscovery`).

In: panes with output, pane events, process exits. Out: facts. A quiet pane costs nothing: a pane is scanned if it
printed and its foreground program changed, less and less often while it keeps printing, and with all others once a
minute.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import ProcessInfo
from termvisor.agents.sources.process_scanner import PaneProcessScanner
from termvisor.agents.sources.program_version import ProgramVersionFinder
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_candidates import (
    AgentCandidate,
    RecognizedTree,
    choose_candidate,
    find_candidates,
    is_readable,
)
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.agent.agent_process import (
    AgentExited,
    AgentProcess,
    AgentStarted,
    Fact,
    OutputMissed,
    PaneClosed,
    PaneLocation,
)
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, RuntimeId
from termvisor.system.process_lifetime import ProcessExitWatcher, compute_start_instant
from termvisor.system.tty import filter_group_members, find_foreground_group, is_foreign_group

# Delay from the first output to the scan, by which time the printing program has started.
_FIRST_SCAN_DELAY_S = 0.1
_MIN_SCAN_INTERVAL_S = 1.0
_MAX_SCAN_INTERVAL_S = 30.0
_FULL_SCAN_INTERVAL_S = 60.0
# Compare the commands of panes this often even if nothing was printed.
_QUIET_TIMEOUT_S = 10.0


class PaneInfo(Struct, frozen=True, kw_only=True):
    pane: PaneId
    pid: int
    """The pid of its first process."""
    command: str
    """The program in the foreground, as the multiplexer reports it."""
    title: str = ""
    tty: str = ""
    place: PaneLocation
    generation: int = 0
    shows_watched_panes: bool = False
    """It shows panes of another watched multiplexer server, to which its screen belongs."""


class AgentFollower(Protocol):
    """Reader of what an agent process reports while it runs."""

    def follow(self, agent_process: AgentProcess, process: ProcessInfo) -> None: ...

    def leave(self, agent_process: AgentProcess) -> None: ...


class _PaneScanState(Struct):
    """The foreground of a pane at its last scan, and when the next is due."""

    pid: int
    command: str
    foreground_group: int
    due_at: float
    interval_s: float = _MIN_SCAN_INTERVAL_S
    recognized: RecognizedTree | None = None

    def postpone(self, now: float) -> bool:
        """Double the interval and return True, because the pane is scanned now."""
        self.interval_s = min(_MAX_SCAN_INTERVAL_S, 2 * self.interval_s)
        self.due_at = now + self.interval_s
        return True


class AgentDiscovery:
    def __init__(
        self, tracker: AgentTracker, registry: AdapterRegistry, process_scanner: PaneProcessScanner, clock: Clock
    ):
        self._tracker, self._registry, self._process_scanner, self._clock = tracker, registry, process_scanner, clock
        self.list_panes: Callable[[], Iterable[PaneInfo]] = lambda: ()
        self.followers: Sequence[AgentFollower] = ()
        self.exit_watcher: ProcessExitWatcher | None = None
        """Calls `handle_process_exit`. Without it, the next scan notices that a process has exited."""
        self.flush_output: Callable[[PaneId], None] = lambda pane: None
        """Called before an exit is submitted, so that the output before it is read first."""
        self.has_unread_end: Callable[[AgentProcess], bool] = lambda agent_process: False
        """Return True if the agent's last output has not passed the terminal and the recorder yet."""
        self.has_restored_terminal: Callable[[PaneId], bool] = lambda pane: False
        """Return True if the program in the pane took back the terminal modes that it had set."""
        self._version_finder = ProgramVersionFinder()
        self._scan_states: dict[PaneId, _PaneScanState] = {}
        self._followed_agents: dict[RuntimeId, AgentProcess] = {}
        self._output_wait: asyncio.Timeout | None = None
        """The wait for output, which an exit cuts short."""
        self._unread_exits: dict[RuntimeId, AgentExited] = {}
        """Exits of agents whose last output is unread."""
        self._urgent_panes: set[PaneId] = set()
        self._last_full_scan_at = self._last_scan_at = -_FULL_SCAN_INTERVAL_S
        self._scan_lock = asyncio.Lock()
        self._missed_output_count = 0
        self.scanned_pane_count = 0
        """How many panes were fully scanned, for the self-diagnosis."""

    async def run(self, output: Subscription[PaneId]) -> None:
        """Scan all panes, then those with output, until cancelled."""
        await self.scan()
        while True:
            await self.scan(await self._wait_for_output(output))

    async def follow_pane_events(self, events: Subscription[Event]) -> None:
        """Handle pane events until cancelled."""
        while True:
            event = await events.get()
            if event.pane is None:
                continue
            if event.kind == "pane_gone":
                self._scan_states.pop(event.pane, None)
                await self._submit_facts(self._take_unread_exits(event.pane))
                # The agent may have exited just before, in which case its session ended because the pane was closed.
                if event.pane in self._tracker.agents_by_pane or event.pane in self._tracker.state.sessions.abrupt_ends:
                    await self._submit_facts([PaneClosed(at=event.at, pane=event.pane)])
            elif event.kind == "gap_recorded" and event.pane in self._tracker.agents_by_pane:
                await self._submit_facts([OutputMissed(at=event.at, pane=event.pane)])
            elif event.kind in ("pane_died", "pane_respawned", "pane_appeared"):
                await self.scan({event.pane})

    def handle_process_exit(self, pid: int, started: int, exit_code: int | None) -> None:
        """Submit the exit of a followed process; its pane is scanned soon for another agent."""
        exited = [agent for agent in self._followed_agents.values() if (agent.pid, agent.pid_started) == (pid, started)]
        exits = {agent.id: self._build_exit(agent, exit_code) for agent in exited}
        for agent in exited:  # its last output must be read while it still counts as running
            self.flush_output(agent.pane)
            self._urgent_panes.add(agent.pane)
        if exited and self._output_wait is not None:
            self._output_wait.reschedule(asyncio.get_running_loop().time() + _FIRST_SCAN_DELAY_S)
        for agent in exited:
            exit_fact = self._check_pane_closing(exits[agent.id], agent.pane)
            # The scan after the next output, which is later than the agent's last one, or the end of the pane ends
            # the others.
            if self.has_unread_end(agent) or exit_fact.is_pane_closing:
                self._unread_exits[agent.id] = exit_fact
            else:
                self._tracker.submit_facts([exit_fact])
                self._unfollow(agent)

    def _build_exit(self, agent_process: AgentProcess, exit_code: int | None) -> AgentExited:
        """Build the fact of an exit. Must be called at once, because a pane closes soon after its last program."""
        tty = next((one.tty for one in self.list_panes() if one.pane == agent_process.pane), "")
        return AgentExited(
            at=self._clock.now(),
            runtime=agent_process.id,
            exit_code=exit_code,
            # A pane that is killed takes the terminal from its programs, and many of them exit with code 0 then.
            is_pane_closing=bool(tty) and not os.path.exists(tty),
        )

    def _check_pane_closing(self, exit_fact: AgentExited, pane: PaneId) -> AgentExited:
        """Return the exit without a closing pane if the agent left its terminal in order.

        A pane closes after its last program too. A program whose terminal was taken away can no longer print there.
        """
        is_closing = exit_fact.is_pane_closing and not self.has_restored_terminal(pane)
        return replace(exit_fact, is_pane_closing=is_closing)

    def _take_unread_exits(self, pane: PaneId) -> list[Fact]:
        """Return the exits in a pane that were kept until its last output was read, which it is now."""
        self.flush_output(pane)
        agents = [agent for number in self._unread_exits if (agent := self._followed_agents.get(number)) is not None]
        return [
            self._check_pane_closing(self._unread_exits.pop(agent.id), pane) for agent in agents if agent.pane == pane
        ]

    async def scan(self, active_panes: set[PaneId] | None = None) -> None:
        """Scan the active panes whose foreground program may have changed, or all panes if None."""
        async with self._scan_lock:  # pane events and output trigger scans concurrently
            panes = list(self.list_panes())
            now = self._last_scan_at = self._clock.monotonic()
            if active_panes is None or now >= self._last_full_scan_at + _FULL_SCAN_INTERVAL_S:
                self._last_full_scan_at, active_panes = now, {pane_info.pane for pane_info in panes}
                self._scan_states = {}
            due = [pane_info for pane_info in panes if self._is_due(pane_info, active_panes, now)]
            # A process may exit during the scan, after its pane was read.
            urgent = frozenset(self._urgent_panes)
            if due:
                due += [one for one in panes if one.pane in active_panes and self._is_almost_due(one, now)]
                await self._scan_panes(due)
            self._urgent_panes -= urgent

    async def end_agents_of_gone_panes(self, existing_panes: Iterable[PaneId]) -> None:
        """End the agents whose pane was closed while no daemon was running."""
        gone = self._tracker.agents_by_pane.keys() - set(existing_panes)
        await self._submit_facts([PaneClosed(at=self._clock.now(), pane=pane) for pane in sorted(gone)])

    async def _scan_panes(self, panes: Sequence[PaneInfo]) -> None:
        trees = await self._process_scanner.scan({pane_info.pane: pane_info.pid for pane_info in panes})
        self.scanned_pane_count += len(panes)
        chosen = {one: self._choose_candidate(one, trees.get(one.pane, ())) for one in panes}
        await self._submit_facts(
            [fact for one in panes for fact in self._derive_facts(one, trees.get(one.pane, ()), chosen[one])]
        )
        for pane_info, candidate in chosen.items():
            self._follow_candidate(pane_info.pane, await self._add_version(candidate))

    async def _add_version(self, candidate: AgentCandidate | None) -> AgentCandidate | None:
        """Return a new candidate with the version of its program; any other one, or a hidden process, unchanged."""
        followed = {(one.pid, one.pid_started) for one in self._followed_agents.values()}
        if candidate is None or candidate.process_key in followed or not candidate.process.pid_started:
            return candidate
        process, names = candidate.process, self._registry.get_package_names(candidate.agent)
        started_at = compute_start_instant(process.pid_started, self._clock.now())
        # In a thread, because it reads files, which may be on a slow disk.
        version = await asyncio.to_thread(self._version_finder.find_version, process, names, started_at)
        return replace(candidate, process=replace(process, version=version))

    def _is_due(self, pane_info: PaneInfo, active_panes: set[PaneId], now: float) -> bool:
        """Return True if the pane has to be scanned now; reads at most one file in /proc."""
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
        """Return True if the pane would be due soon, so that it joins the current scan and saves another one."""
        last = self._scan_states[pane_info.pane]
        return last.due_at > now >= last.due_at - last.interval_s / 2 and last.postpone(now)

    def _choose_candidate(self, pane_info: PaneInfo, tree: Sequence[ProcessInfo]) -> AgentCandidate | None:
        current = self._tracker.find_agent_in_pane(pane_info.pane)
        foreground_pids = filter_group_members(find_foreground_group(pane_info.pid), (process.pid for process in tree))
        if current is not None and not is_readable(tree, (current.pid, current.pid_started)):
            return None
        candidates = self._find_candidates(pane_info.pane, tree, foreground_pids)
        if not candidates and not foreground_pids:
            return self._find_by_command(pane_info)
        return choose_candidate(candidates, None if current is None else (current.pid, current.pid_started))

    def _find_candidates(
        self, pane: PaneId, tree: Sequence[ProcessInfo], foreground_pids: frozenset[int]
    ) -> list[AgentCandidate]:
        """Ask all adapters, unless they have seen the same processes: that is half of the cost of a scan."""
        adapters, state = self._registry.adapters, self._scan_states.get(pane)
        last = state.recognized if state else None
        if last and last.adapters is adapters and (last.tree, last.foreground_pids) == (tree, foreground_pids):
            return last.candidates
        candidates = find_candidates(adapters, tree, foreground_pids, self._registry.find_process)
        if state:
            state.recognized = RecognizedTree(adapters, tree, foreground_pids, candidates)
        return candidates

    def _find_by_command(self, pane_info: PaneInfo) -> AgentCandidate | None:
        """Return the agent that the pane's command names, if its process is hidden: another user's, with `hidepid`."""
        agent, group = self._registry.match_command(pane_info.command), find_foreground_group(pane_info.pid)
        # A program that has just exited is still the pane's command for a moment, but has no process any more.
        if not agent or not is_foreign_group(group):
            return None
        return AgentCandidate(agent, ProcessInfo(pid=group, program=pane_info.command), is_foreground=True)

    def _derive_facts(
        self, pane_info: PaneInfo, tree: Sequence[ProcessInfo], chosen: AgentCandidate | None
    ) -> list[Fact]:
        now, current = self._clock.now(), self._tracker.find_agent_in_pane(pane_info.pane)
        current_key = (current.pid, current.pid_started) if current is not None else (0, 0)
        if chosen is not None:
            is_new = chosen.process_key != current_key
            return [AgentStarted(at=now, runtime=self._build_agent_process(pane_info, chosen, now))] if is_new else []
        if current is None:
            return []
        # A remote agent has no pid here; it ends with its screen (see `remote_agents`).
        is_gone = current.pid and current_key not in {(process.pid, process.pid_started) for process in tree}
        if is_gone:
            exit_code = None if self.exit_watcher is None else self.exit_watcher.read_exit_code(*current_key)
            unread = self._unread_exits.pop(current.id, None)
            exit_fact = self._build_exit(current, exit_code) if unread is None else unread
            return [self._check_pane_closing(exit_fact, pane_info.pane)]
        # The setting `agents_disabled` may have switched its adapter off while no daemon was running. The process
        # still runs, so its session is not one to bring back.
        is_disabled = current.agent not in self._registry.adapters
        return [AgentExited(at=now, runtime=current.id, exit_code=0)] if is_disabled else []

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
            started_at=compute_start_instant(chosen.process.pid_started, now) if chosen.process.pid_started else now,
        )

    def _follow_candidate(self, pane: PaneId, chosen: AgentCandidate | None) -> None:
        self._unfollow_exited()
        agent_process = self._tracker.find_agent_in_pane(pane)
        if chosen is None or agent_process is None or agent_process.id in self._followed_agents:
            return
        self._followed_agents[agent_process.id] = agent_process
        for follower in self.followers:
            follower.follow(agent_process, chosen.process)
        # A process that cannot be read would count as exited; the pane's command shows its end instead.
        if self.exit_watcher is not None and agent_process.is_process_seen:
            self.exit_watcher.watch_process(agent_process.pid, agent_process.pid_started)

    def _unfollow_exited(self) -> None:
        running = {agent.id for agent in self._tracker.agents_by_pane.values()}
        for gone in [agent for number, agent in self._followed_agents.items() if number not in running]:
            self._unfollow(gone)

    def _unfollow(self, agent_process: AgentProcess) -> None:
        self._followed_agents.pop(agent_process.id, None)
        for follower in self.followers:
            follower.leave(agent_process)
        if self.exit_watcher is not None:
            self.exit_watcher.unwatch_process(agent_process.pid, agent_process.pid_started)

    async def _submit_facts(self, facts: list[Fact]) -> None:
        """Submit facts and wait until they are stored. The next scan finds refused facts again."""
        if facts and self._tracker.submit_facts(facts):
            await self._tracker.wait_stored()
            self._unfollow_exited()

    async def _wait_for_output(self, output: Subscription[PaneId]) -> set[PaneId] | None:
        """Wait for output and return its panes; None if some may have been dropped from the subscription."""
        try:
            async with asyncio.timeout(_FIRST_SCAN_DELAY_S if self._urgent_panes else _QUIET_TIMEOUT_S) as wait:
                self._output_wait = wait
                first = {await output.get()}
        except TimeoutError:
            # Nothing was printed: only panes whose process exited, or whose command changed, are scanned.
            return set(self._urgent_panes)
        finally:
            self._output_wait = None
        await self._clock.sleep(
            max(_FIRST_SCAN_DELAY_S, self._last_scan_at + _MIN_SCAN_INTERVAL_S - self._clock.monotonic())
        )
        missed, self._missed_output_count = output.dropped_count - self._missed_output_count, output.dropped_count
        return None if missed else first | set(output.drain()) | self._urgent_panes

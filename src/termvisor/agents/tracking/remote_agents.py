"""Detect remote agents by their screen: behind ssh, in a container, in another multiplexer.

Their process is not below the pane, so only the screen and the title can identify them. That is weak evidence: it
counts only in a pane whose program shows other terminals, and if two consecutive screens show the same agent. A pane
that shows another watched multiplexer server has no agent of its own: the inner pane has it.

Screens arrive when a pane repaints. A dialog that stands still paints once, so panes whose screen has not been settled
by that are listed to be captured again (`list_unsettled_panes`).
"""

from collections.abc import Iterable

from termvisor.agents.state.identification import identify_agent
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_discovery import PaneInfo
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.clock import Clock
from termvisor.model.agent.agent_process import AgentExited, AgentProcess, AgentStarted, SignatureInputs
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

# Programs that show a terminal running elsewhere.
CARRIER_PROGRAMS = frozenset((
    "ssh", "autossh", "mosh", "mosh-client", "et", "docker", "podman", "nerdctl", "kubectl", "lxc", "incus",
    "machinectl", "distrobox", "toolbox", "tmux", "screen", "zellij", "dtach", "abduco", "wsl",
))  # fmt: skip
_MIN_CONFIDENCE = 0.7
_MIN_SCAN_INTERVAL_S = 2.0


class RemoteAgentDetector:
    def __init__(self, tracker: AgentTracker, registry: AdapterRegistry, clock: Clock):
        self._tracker, self._registry, self._clock = tracker, registry, clock
        self._candidates: dict[PaneId, tuple[str, float]] = {}
        """The agent on the last screen of each pane, and when that was captured."""
        self._skipped_panes: set[PaneId] = set()
        """Panes that have repainted since, too soon to be scanned again."""

    def is_due(self, pane_info: PaneInfo) -> bool:
        """Return True if the screen of this pane should be scanned."""
        last = self._candidates.get(pane_info.pane)
        if not is_carrier(pane_info.command) or pane_info.shows_watched_panes:
            self._candidates.pop(pane_info.pane, None)
            return False
        return last is None or self._clock.monotonic() >= last[1] + _MIN_SCAN_INTERVAL_S

    def skip_screen(self, pane_info: PaneInfo) -> None:
        """Remember that a screen of this pane was not scanned because it was not due."""
        if pane_info.pane in self._candidates:
            self._skipped_panes.add(pane_info.pane)

    def list_unsettled_panes(self, pane_infos: Iterable[PaneInfo]) -> list[PaneId]:
        """Return the panes to capture now: never scanned, changed since, or with an agent on one screen only."""
        due = [pane_info.pane for pane_info in pane_infos if self.is_due(pane_info)]
        return [pane for pane in due if pane in self._skipped_panes or self._candidates.get(pane, ("new",))[0]]

    def scan_screen(self, pane_info: PaneInfo, screen: Screen) -> None:
        """Scan the screen of a pane without an agent."""
        before = self._candidates.get(pane_info.pane)
        agent = self._identify_agent(pane_info, screen)
        self._candidates[pane_info.pane] = agent, self._clock.monotonic()
        self._skipped_panes.discard(pane_info.pane)
        # One screen proves nothing, because any program can print a copy of an agent's screen.
        if agent and before is not None and before[0] == agent:
            now = self._clock.now()
            agent_process = AgentProcess(
                id=self._tracker.allocate_agent_process_id(),
                pane=pane_info.pane,
                place=pane_info.place,
                generation=pane_info.generation,
                agent=agent,
                started_at=now,
            )
            self._tracker.submit_facts([AgentStarted(at=now, runtime=agent_process)])

    def end_if_gone(self, pane_info: PaneInfo) -> None:
        """End a remote agent if its carrier program is gone, or if the screen no longer shows it."""
        agent_process = self._tracker.find_agent_in_pane(pane_info.pane)
        if agent_process is None or agent_process.pid:
            return
        projection = self._tracker.get_projection(agent_process.id)
        is_lost = projection is not None and projection.state.presence == "unmanaged"
        if is_lost or pane_info.shows_watched_panes or not is_carrier(pane_info.command):
            self._candidates.pop(pane_info.pane, None)
            self._tracker.submit_facts([AgentExited(at=self._clock.now(), runtime=agent_process.id)])

    def _identify_agent(self, pane_info: PaneInfo, screen: Screen) -> str:
        readings = {
            agent: reading
            for agent in self._registry.adapters
            if (reading := self._registry.classify_screen(agent, screen))
        }
        matches = {
            agent: one.confidence for agent, one in readings.items() if one.names_agent and one.state != "unknown"
        }
        best = max(matches, key=lambda agent: matches[agent], default="")
        title = next((agent for agent in readings if self._registry.is_title_match(agent, pane_info.title)), "")
        on_screen = best if best and (matches[best] >= _MIN_CONFIDENCE or best == title) else ""
        return identify_agent(SignatureInputs(poller_match=on_screen, title_match=title), pane_info.command).agent


def is_carrier(command: str) -> bool:
    return command.rsplit("/", 1)[-1] in CARRIER_PROGRAMS

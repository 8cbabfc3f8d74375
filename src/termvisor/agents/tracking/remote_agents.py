"""Agents on the other side of something: behind ssh, in a container, in another multiplexer.

Their process is not below the pane, so only the screen can name them, and the title beside it. That is weak: it counts
only in a pane whose program carries other terminals, and when two looks in a row name the same agent. A pane that shows
another multiplexer which we watch, too, has no agent of its own: the inner pane has it.
"""

from msgspec import Struct

from termvisor.agents.state.identification import identify_agent
from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.pane_info import PaneInfo
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.clock import Clock
from termvisor.model.agent.agent_process import AgentExited, AgentProcess, AgentStarted
from termvisor.model.agent.identification import SignatureInputs
from termvisor.model.ids import PaneId
from termvisor.model.terminal.screen import Screen

CARRIER_PROGRAMS = frozenset((
    "ssh", "autossh", "mosh", "mosh-client", "et", "docker", "podman", "nerdctl", "kubectl", "lxc", "incus",
    "machinectl", "distrobox", "toolbox", "tmux", "screen", "zellij", "dtach", "abduco", "wsl",
))  # fmt: skip
"""Programs that show what runs elsewhere."""
_MIN_CONFIDENCE = 0.7
_MIN_SCAN_INTERVAL_S = 2.0


class _RemoteCandidate(Struct):
    agent: str
    seen_at: float


class RemoteAgentDetector:
    def __init__(self, tracker: AgentTracker, registry: AdapterRegistry, clock: Clock):
        self._tracker, self._registry, self._clock = tracker, registry, clock
        self._candidates: dict[PaneId, _RemoteCandidate] = {}

    def is_due(self, pane_info: PaneInfo) -> bool:
        """Whether a look at this pane would tell anything new."""
        last = self._candidates.get(pane_info.pane)
        if is_carrier(pane_info.command) and not pane_info.shows_ours:
            return last is None or self._clock.monotonic() >= last.seen_at + _MIN_SCAN_INTERVAL_S
        self._candidates.pop(pane_info.pane, None)
        return False

    def scan_screen(self, pane_info: PaneInfo, screen: Screen) -> None:
        """At a pane without an agent."""
        before = self._candidates.get(pane_info.pane)
        agent = self._identify_agent(pane_info, screen)
        self._candidates[pane_info.pane] = _RemoteCandidate(agent, self._clock.monotonic())
        if agent and before is not None and before.agent == agent:
            now = self._clock.now()
            runtime = AgentProcess(
                id=self._tracker.allocate_agent_process_id(),
                pane=pane_info.pane,
                place=pane_info.place,
                generation=pane_info.generation,
                agent=agent,
                started_at=now,
            )
            self._tracker.submit_facts([AgentStarted(at=now, runtime=runtime)])

    def end_if_gone(self, pane_info: PaneInfo) -> None:
        """The agent that was seen here is gone when nothing carries it any more, or looks no longer find it."""
        runtime = self._tracker.find_agent_in_pane(pane_info.pane)
        if runtime is None or runtime.pid:
            return
        told = self._tracker.get_projection(runtime.id)
        is_lost = told is not None and told.state.presence == "unmanaged"
        if is_lost or pane_info.shows_ours or not is_carrier(pane_info.command):
            self._candidates.pop(pane_info.pane, None)
            self._tracker.submit_facts([AgentExited(at=self._clock.now(), runtime=runtime.id)])

    def _identify_agent(self, pane_info: PaneInfo, screen: Screen) -> str:
        seen = {
            agent: found
            for agent in self._registry.adapters
            if (found := self._registry.classify_screen(agent, screen))
        }
        sure = {agent: found.confidence for agent, found in seen.items() if found.rule and found.state != "unknown"}
        best = max(sure, key=lambda agent: sure[agent], default="")
        title = next((agent for agent in seen if self._registry.is_title_match(agent, pane_info.title)), "")
        poller = best if best and (sure[best] >= _MIN_CONFIDENCE or best == title) else ""
        return identify_agent(SignatureInputs(poller_match=poller, title_match=title), pane_info.command).agent


def is_carrier(command: str) -> bool:
    return command.rsplit("/", 1)[-1] in CARRIER_PROGRAMS

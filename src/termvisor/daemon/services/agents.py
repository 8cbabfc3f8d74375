"""Serve agent states, sessions, sources and adapters to operations, computed at the time of the call.

`PaneIdentifier` finds which agent a pane shows, and by which evidence: process, command, screen, title or handshake.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from msgspec import Struct

from termvisor.agents.adapters import loader
from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.adapters.command_line import find_program_names
from termvisor.agents.adapters.described.adapter import DescribedAdapter
from termvisor.agents.adapters.description_files import DESCRIPTIONS
from termvisor.agents.adapters.loader import list_recorded_versions
from termvisor.agents.state.explain import explain_state
from termvisor.agents.state.identification import build_handshake_signature, identify_agent
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS
from termvisor.agents.state.source_slots import read_sources
from termvisor.agents.state.titles import find_session_titles, select_title
from termvisor.agents.tracking.adapter_registry import add_to_cache
from termvisor.agents.tracking.agent_discovery import PaneInfo
from termvisor.bus import Subscription
from termvisor.daemon.agents.assembly import find_pane_info, list_pane_infos
from termvisor.daemon.agents.drift_monitor import DriftMonitor
from termvisor.daemon.components import Components
from termvisor.model.agent.agent_process import AgentProcess, AgentSignature, SignatureInputs
from termvisor.model.agent.agent_view import AgentKind, AgentView, PaneProgram
from termvisor.model.agent.attention import find_need
from termvisor.model.agent.evidence import AgentDrift, EvidenceSource, SourceHealth, StateExplanation
from termvisor.model.agent.hooks import ToolFinished
from termvisor.model.agent.price import add_estimated_cost
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange
from termvisor.model.ids import PaneId, SignalId
from termvisor.system.foreground_shell import is_in_foreground, is_shell_name

_SELF_IDENTIFIED_BINDINGS = ("managed_deterministic_fresh", "managed_deterministic_stale")
"""Entries per cache before it is cleared."""


class AgentService:
    def __init__(self, components: Components):
        self._components, self._tracker = components, components.agent_tracking.tracker
        self._identifier = PaneIdentifier(components)
        self.drift_monitor = DriftMonitor(components)

    async def list_views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        """Return the running agents by pane, or only the one in the given pane."""
        running = sorted(self._tracker.agents_by_pane.items())
        return {
            agent_pane: self._build_view(agent_process)
            for agent_pane, agent_process in running
            if pane in (None, agent_pane)
        }

    async def list_signatures(self) -> dict[PaneId, AgentSignature]:
        """Return, for each existing pane, why it was or was not identified as running an agent."""
        signatures = {pane: view.signature for pane, view in (await self.list_views()).items()}
        others = (info for info in list_pane_infos(self._components.server_supervisor) if info.pane not in signatures)
        return signatures | {info.pane: self._identifier.identify(info) for info in others}

    async def explain_state(self, pane: PaneId) -> StateExplanation | None:
        """Explain the state of the agent in a pane; None if there is no agent."""
        tracker, now = self._tracker, self._components.clock.now()
        agent_process = tracker.find_agent_in_pane(pane)
        if agent_process is None:
            return None
        return explain_state(tracker.state.knowledge, agent_process.id, now, tracker.config.thresholds)

    async def find_signals(self, signal_ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        """Return the stored signals, redacted; those deleted by retention are missing."""
        return await self._components.store.agent_facts.find_signals(signal_ids)

    async def list_sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        """Return the newest sessions, oldest first."""
        sessions = await self._components.store.sessions.list(pane=pane, agent=agent, since=since, limit=limit)
        return [add_estimated_cost(session, self._components.settings.agent_prices) for session in sessions]

    async def list_sources(self) -> list[SourceHealth]:
        """Return the health of files and servers, then of the sources that are read from panes."""
        tracking = self._components.agent_tracking
        connected = [*tracking.source_watcher.list_health(), *tracking.servers.collect_health()]
        names = {(health.agent, health.source) for health in connected}
        # A source with a file or server is already listed above, in more detail.
        live = self._collect_live_sources()
        return [*connected, *(health for health in live if (health.agent, health.source) not in names)]

    async def list_kinds(self) -> list[AgentKind]:
        """Return every known agent program, including disabled ones."""
        return [self._build_kind(adapter) for adapter in loader.load_adapters()]

    async def find_program(self, pane: PaneId) -> PaneProgram | None:
        """Return the outermost program in the foreground of a pane that is not a shell; None if there is none."""
        pane_info = find_pane_info(self._components.server_supervisor, pane)
        scanner = self._components.agent_tracking.processes
        processes = (await scanner.scan({pane: pane_info.pid}))[pane] if pane_info is not None else ()
        for process in processes:
            if pane_info is not None and is_in_foreground(process.pid, pane_info.pid) and process.argv:
                name, script, package = find_program_names(process)
                if not is_shell_name(name):
                    return PaneProgram(name=name, script=script, package=package)
        return None

    async def list_description_problems(self) -> list[str]:
        """Return the problems with files that describe agents."""
        return list(map(str, DESCRIPTIONS.agents.problems))

    async def list_drifts(self) -> list[AgentDrift]:
        """Return how running agents deviate from what their adapters expect."""
        return self.drift_monitor.find_drifts()

    def subscribe_state_changes(self) -> AbstractContextManager[Subscription[StateChange]]:
        """Subscribe to state changes; published after they are stored."""
        return self._tracker.state_changes.subscribe()

    def subscribe_tool_ends(self) -> AbstractContextManager[Subscription[ToolFinished]]:
        """Subscribe to finished tool calls that agents report."""
        return self._components.agent_tracking.signal_reader.finished_tools.subscribe()

    def _build_kind(self, adapter: Adapter) -> AgentKind:
        registry = self._components.agent_tracking.adapter_registry
        return AgentKind(
            name=adapter.name,
            contract_version=adapter.contract_version,
            capabilities=tuple(sorted(adapter.capabilities)),
            sources=tuple(source.name for source in sorted(adapter.sources, key=lambda source: source.rank)),
            is_enabled=adapter.name in registry.adapters,
            failures=registry.failure_counts.get(adapter.name, 0),
            recorded=list_recorded_versions(adapter.name),
            start=adapter.description.start if isinstance(adapter, DescribedAdapter) else (),
            is_described=isinstance(adapter, DescribedAdapter),
        )

    def _build_view(self, agent_process: AgentProcess) -> AgentView:
        tracker, now = self._tracker, self._components.clock.now()
        state = compute_state(tracker.state.knowledge, agent_process.id, now, tracker.config.thresholds)
        projection, need = tracker.get_projection(agent_process.id), find_need(state)
        return AgentView(
            state=state,
            version=projection.version if projection is not None else 0,
            changed_at=projection.changed_at
            if projection is not None and projection.state.value == state.value
            else now,
            title=self._choose_title(agent_process),
            need=need.kind if need is not None else None,
            needs_action=need is not None and need.is_action,
            session=self._find_session(agent_process),
            signature=self._identify(state),
            program=self.drift_monitor.describe_program(agent_process),
        )

    def _find_session(self, agent_process: AgentProcess) -> AgentSession | None:
        session = self._tracker.get_session(agent_process.id)
        return None if session is None else add_estimated_cost(session, self._components.settings.agent_prices)

    def _identify(self, state: AgentState) -> AgentSignature:
        """Return the signature of the agent's pane; an empty one if the pane was just closed."""
        pane_info = find_pane_info(self._components.server_supervisor, state.pane)
        return AgentSignature() if pane_info is None else self._identifier.identify(pane_info, state)

    def _choose_title(self, agent_process: AgentProcess) -> str:
        slots = self._tracker.state.knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        own, past = find_session_titles(slots, agent_process.agent, self._tracker.config.thresholds)
        location = self._components.server_supervisor.locate_pane(agent_process.pane)
        live = location[0].known_panes[location[1]].facts.title if location is not None else ""
        return select_title((own, past, live, agent_process.cwd), agent_process.agent)

    def _collect_live_sources(self) -> Iterator[SourceHealth]:
        """Yield the health of marks and screens; they have no file or address, so ``where`` is the pane."""
        thresholds, knowledge = self._tracker.config.thresholds, self._tracker.state.knowledge
        now, all_drifts = self._components.clock.now(), self.drift_monitor.find_drifts()
        for agent_process in self._tracker.agents_by_pane.values():
            slots = knowledge.source_slots.get(agent_process.id, EMPTY_SOURCE_SLOTS)
            drifts = [drift for drift in all_drifts if drift.runtime == agent_process.id]
            for reading in read_sources(slots, agent_process.agent, now, thresholds):
                source, freshness = reading.source, reading.freshness
                yield SourceHealth(
                    agent=agent_process.agent,
                    source=source.name,
                    where=f"pane {agent_process.pane}",
                    heard_at=reading.slot.heard_at,
                    signals=len(reading.slot.seen_signals.seen),
                    status="down" if freshness == "down" else "well" if freshness == "fresh" else "quiet",
                    detail="; ".join(drift.description for drift in drifts if _is_shown_at(drift, source)),
                )


def _is_shown_at(drift: AgentDrift, source: EvidenceSource) -> bool:
    """Return True if a drift is listed with this source: silent signals with native sources, others with the screen."""
    return (source.tier == "deterministic") if drift.kind == "silent_signals" else source.name == "screen"


class PaneIdentifier(Struct):
    """Matches commands and titles to agents. Titles are cached, because listings query all panes at once."""

    components: Components
    _agents_by_title: dict[str, str] = {}

    def identify(self, pane_info: PaneInfo, state: AgentState | None = None) -> AgentSignature:
        """Return the signature of a pane; ``state`` is the state of its agent, if it has one."""
        tracking = self.components.agent_tracking
        agent_process = tracking.tracker.find_agent_in_pane(pane_info.pane)
        inputs = SignatureInputs(
            provider_hint=agent_process.agent if agent_process is not None and agent_process.is_process_seen else "",
            cmd_match=tracking.adapter_registry.match_command(pane_info.command),
            poller_match=tracking.agent_screens.get_agent_on_screen(agent_process) if agent_process is not None else "",
            title_match=self._match_title(pane_info.title),
        )
        # An agent that identified itself through a hook is certain; names and titles can only confirm it.
        if state is not None and state.binding in _SELF_IDENTIFIED_BINDINGS:
            return build_handshake_signature(state.agent, inputs)
        signature = identify_agent(inputs, pane_info.command)
        # The name of a command is no proof if its process is known: `codex login` holds no conversation.
        if agent_process is None and signature.agent:
            return AgentSignature(signature_reason="signature_guard_rejected", signature_inputs=inputs)
        return signature

    def _match_title(self, title: str) -> str:
        registry = self.components.agent_tracking.adapter_registry
        if title not in self._agents_by_title:
            match = next((agent for agent in registry.adapters if registry.is_title_match(agent, title)), "")
            add_to_cache(self._agents_by_title, title, match if title else "")
        return self._agents_by_title[title]

"""What operations see of agents, from what is known at the instant of the question."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from msgspec.structs import replace

from termvisor import agents
from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.adapters.recorded_versions import list_recorded_versions
from termvisor.agents.state.explain import explain_state
from termvisor.agents.state.published_state import compute_state
from termvisor.agents.state.reducer import EMPTY_SOURCE_SLOTS
from termvisor.agents.state.source_reading import read_sources
from termvisor.agents.state.titles import TitleCandidates, find_session_titles, select_title
from termvisor.bus import Subscription
from termvisor.daemon.agents.assembly import find_pane_info, list_pane_infos
from termvisor.daemon.agents.drift_monitor import DriftMonitor
from termvisor.daemon.components import Components
from termvisor.daemon.services.agent_identification import PaneIdentifier
from termvisor.model.agent.agent_process import AgentProcess
from termvisor.model.agent.attention import find_need
from termvisor.model.agent.drift import AgentDrift
from termvisor.model.agent.evidence_source import EvidenceSource
from termvisor.model.agent.explanation import StateExplanation
from termvisor.model.agent.identification import AgentSignature
from termvisor.model.agent.price import add_estimated_cost
from termvisor.model.agent.session import AgentKind, AgentSession, AgentView, SourceHealth
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange
from termvisor.model.agent.tool_finished import ToolFinished
from termvisor.model.ids import PaneId, SignalId


class DaemonAgents:
    def __init__(self, components: Components):
        self._components, self._tracker = components, components.agent_tracking.tracker
        self._identifier = PaneIdentifier(components)
        self.drift_monitor = DriftMonitor(components)

    async def list_views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        living = sorted(self._tracker.agents_by_pane.items())
        return {one: self._build_view(runtime) for one, runtime in living if pane in (None, one)}

    async def list_signatures(self) -> dict[PaneId, AgentSignature]:
        known = {pane: view.signature for pane, view in (await self.list_views()).items()}
        others = (one for one in list_pane_infos(self._components.server_supervisor) if one.pane not in known)
        return known | {one.pane: self._identifier.identify(one) for one in others}

    async def explain_state(self, pane: PaneId) -> StateExplanation | None:
        runtime = self._tracker.find_agent_in_pane(pane)
        if runtime is None:
            return None
        knowing = self._tracker
        return explain_state(
            knowing.state.knowledge, runtime.id, self._components.clock.now(), knowing.config.thresholds
        )

    async def find_signals(self, signal_ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        return await self._components.store.agent_facts.find_signals(signal_ids)

    async def list_sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        found = await self._components.store.sessions.list(pane=pane, agent=agent, since=since, limit=limit)
        return [add_estimated_cost(one, self._components.settings.agent_prices) for one in found]

    async def list_sources(self) -> list[SourceHealth]:
        """What is read from disk and from servers, then what is heard and seen of each agent that lives."""
        attending = self._components.agent_tracking
        read = [*attending.source_watcher.list_health(), *attending.servers.collect_health()]
        known = {(one.agent, one.source) for one in read}
        return [*read, *(one for one in self._collect_live_sources() if (one.agent, one.source) not in known)]

    async def list_kinds(self) -> list[AgentKind]:
        return [self._build_kind(adapter) for adapter in agents.load_adapters()]

    async def list_drifts(self) -> list[AgentDrift]:
        return self.drift_monitor.find_drifts()

    def subscribe_state_changes(self) -> AbstractContextManager[Subscription[StateChange]]:
        return self._tracker.state_changes.subscribe()

    def subscribe_tool_ends(self) -> AbstractContextManager[Subscription[ToolFinished]]:
        return self._components.agent_tracking.signal_reader.finished_tools.subscribe()

    def _build_kind(self, adapter: Adapter) -> AgentKind:
        circle = self._components.agent_tracking.adapter_registry
        return AgentKind(
            name=adapter.name,
            contract_version=adapter.contract_version,
            capabilities=tuple(sorted(adapter.capabilities)),
            sources=tuple(source.name for source in sorted(adapter.sources, key=lambda one: one.rank)),
            is_enabled=adapter.name in circle.adapters,
            failures=circle.failure_counts.get(adapter.name, 0),
            recorded=list_recorded_versions(adapter.name),
        )

    def _build_view(self, agent_process: AgentProcess) -> AgentView:
        knowing = self._tracker
        state = compute_state(
            knowing.state.knowledge, agent_process.id, self._components.clock.now(), knowing.config.thresholds
        )
        projection, wanted = knowing.get_projection(agent_process.id), find_need(state)
        return AgentView(
            state=state,
            version=projection.version if projection is not None else 0,
            title=self._choose_title(agent_process),
            need=wanted.kind if wanted is not None else None,
            needs_action=wanted is not None and wanted.is_action,
            session=self._find_session(agent_process),
            signature=self._identify(state),
        )

    def _find_session(self, agent_process: AgentProcess) -> AgentSession | None:
        session = self._tracker.get_session(agent_process.id)
        return None if session is None else add_estimated_cost(session, self._components.settings.agent_prices)

    def _identify(self, state: AgentState) -> AgentSignature:
        """Of a pane that goes just now there is none."""
        standing = find_pane_info(self._components.server_supervisor, state.pane)
        return AgentSignature() if standing is None else self._identifier.identify(standing, state)

    def _choose_title(self, agent_process: AgentProcess) -> str:
        ledger = self._tracker.state.knowledge.ledgers.get(agent_process.id, EMPTY_SOURCE_SLOTS)
        own, past = find_session_titles(ledger, agent_process.agent, self._tracker.config.thresholds)
        place = self._components.server_supervisor.locate_pane(agent_process.pane)
        live = place[0].known_panes[place[1]].facts.title if place is not None else ""
        return select_title(
            TitleCandidates(own_name=own, past_title=past, live_title=live, path=agent_process.cwd), agent_process.agent
        )

    def _collect_live_sources(self) -> Iterator[SourceHealth]:
        """Marks and looks have no place of their own: the pane is where they are heard."""
        measure, knowledge = self._tracker.config.thresholds, self._tracker.state.knowledge
        now, strange = self._components.clock.now(), self.drift_monitor.find_drifts()
        for runtime in self._tracker.agents_by_pane.values():
            ledger = knowledge.ledgers.get(runtime.id, EMPTY_SOURCE_SLOTS)
            for one in read_sources(ledger, runtime.agent, now, measure):
                told = SourceHealth(agent=runtime.agent, source=one.source.name, where=f"pane {runtime.pane}")
                drifts = (drift for drift in strange if drift.runtime == runtime.id and _is_shown_at(drift, one.source))
                status = "down" if one.freshness == "down" else "well" if one.freshness == "fresh" else "quiet"
                detail = "; ".join(drift.description for drift in drifts)
                heard = replace(told, heard_at=one.slot.heard_at, signals=len(one.slot.memory.seen))
                yield replace(heard, status=status, detail=detail)


def _is_shown_at(drift: AgentDrift, source: EvidenceSource) -> bool:
    """At which of its sources a drift is told: at those that speak no more, or else at its screen."""
    return (source.tier == "deterministic") if drift.kind == "silent_signals" else source.name == "screen"

"""What operations see of agents, from what is known at the instant of the question."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager

from msgspec.structs import replace

from termvisor import agents
from termvisor.agents.adapters.adapter import Adapter
from termvisor.agents.adapters.recorded_versions import recorded
from termvisor.agents.state.explain import explain
from termvisor.agents.state.published_state import state_of
from termvisor.agents.state.reducer import NOTHING
from termvisor.agents.state.source_reading import witnesses
from termvisor.agents.state.titles import Known, known_titles, title
from termvisor.bus import Subscription
from termvisor.daemon.agents.assembly import panes, standing_of
from termvisor.daemon.agents.drift_monitor import Drifting
from termvisor.daemon.components import Parts
from termvisor.daemon.services.agent_identification import Signatures
from termvisor.model.agent.agent_process import Runtime
from termvisor.model.agent.attention import need
from termvisor.model.agent.drift import Drift
from termvisor.model.agent.evidence_source import Source
from termvisor.model.agent.explanation import Explanation
from termvisor.model.agent.identification import Signature
from termvisor.model.agent.price import priced
from termvisor.model.agent.session import AgentKind, AgentSession, AgentView, SourceHealth
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange
from termvisor.model.agent.tool_finished import ToolEnd
from termvisor.model.ids import PaneId, SignalId


class LiveAgents:
    def __init__(self, parts: Parts):
        self._parts, self._knowing = parts, parts.attending.knowing
        self._signatures = Signatures(parts)
        self.drifting = Drifting(parts)

    async def views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        living = sorted(self._knowing.living.items())
        return {one: self._view(runtime) for one, runtime in living if pane in (None, one)}

    async def signatures(self) -> dict[PaneId, Signature]:
        known = {pane: view.signature for pane, view in (await self.views()).items()}
        others = (one for one in panes(self._parts.lookout) if one.pane not in known)
        return known | {one.pane: self._signatures.of(one) for one in others}

    async def explain(self, pane: PaneId) -> Explanation | None:
        runtime = self._knowing.runtime_in(pane)
        if runtime is None:
            return None
        knowing = self._knowing
        return explain(knowing.standing.knowledge, runtime.id, self._parts.clock.now(), knowing.terms.measure)

    async def evidence(self, signals: Iterable[SignalId]) -> dict[SignalId, Signal]:
        return await self._parts.store.facts.signals(signals)

    async def sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        found = await self._parts.store.sessions.list(pane=pane, agent=agent, since=since, limit=limit)
        return [priced(one, self._parts.settings.agent_prices) for one in found]

    async def sources(self) -> list[SourceHealth]:
        """What is read from disk and from servers, then what is heard and seen of each agent that lives."""
        attending = self._parts.attending
        read = [*attending.listening.health(), *attending.servers.health()]
        known = {(one.agent, one.source) for one in read}
        return [*read, *(one for one in self._heard() if (one.agent, one.source) not in known)]

    async def kinds(self) -> list[AgentKind]:
        return [self._kind(adapter) for adapter in agents.load()]

    async def drifts(self) -> list[Drift]:
        return self.drifting.now()

    def news(self) -> AbstractContextManager[Subscription[StateChange]]:
        return self._knowing.news.subscribe()

    def tool_ends(self) -> AbstractContextManager[Subscription[ToolEnd]]:
        return self._parts.attending.hearing.tool_ends.subscribe()

    def _kind(self, adapter: Adapter) -> AgentKind:
        circle = self._parts.attending.circle
        return AgentKind(
            name=adapter.name,
            contract_version=adapter.contract_version,
            capabilities=tuple(sorted(adapter.capabilities)),
            sources=tuple(source.name for source in sorted(adapter.sources, key=lambda one: one.rank)),
            is_enabled=adapter.name in circle.adapters,
            failures=circle.failures.get(adapter.name, 0),
            recorded=recorded(adapter.name),
        )

    def _view(self, runtime: Runtime) -> AgentView:
        knowing = self._knowing
        state = state_of(knowing.standing.knowledge, runtime.id, self._parts.clock.now(), knowing.terms.measure)
        projection, wanted = knowing.projection(runtime.id), need(state)
        return AgentView(
            state=state,
            version=projection.version if projection is not None else 0,
            title=self._title(runtime),
            need=wanted.kind if wanted is not None else None,
            needs_action=wanted is not None and wanted.is_action,
            session=self._session(runtime),
            signature=self._signature(state),
        )

    def _session(self, runtime: Runtime) -> AgentSession | None:
        session = self._knowing.session(runtime.id)
        return None if session is None else priced(session, self._parts.settings.agent_prices)

    def _signature(self, state: AgentState) -> Signature:
        """Of a pane that goes just now there is none."""
        standing = standing_of(self._parts.lookout, state.pane)
        return Signature() if standing is None else self._signatures.of(standing, state)

    def _title(self, runtime: Runtime) -> str:
        ledger = self._knowing.standing.knowledge.ledgers.get(runtime.id, NOTHING)
        own, past = known_titles(ledger, runtime.agent, self._knowing.terms.measure)
        place = self._parts.lookout.place_of(runtime.pane)
        live = place[0].known[place[1]].facts.title if place is not None else ""
        return title(Known(own_name=own, past_title=past, live_title=live, path=runtime.cwd), runtime.agent)

    def _heard(self) -> Iterator[SourceHealth]:
        """Marks and looks have no place of their own: the pane is where they are heard."""
        measure, knowledge = self._knowing.terms.measure, self._knowing.standing.knowledge
        now, strange = self._parts.clock.now(), self.drifting.now()
        for runtime in self._knowing.living.values():
            ledger = knowledge.ledgers.get(runtime.id, NOTHING)
            for one in witnesses(ledger, runtime.agent, now, measure):
                told = SourceHealth(agent=runtime.agent, source=one.source.name, where=f"pane {runtime.pane}")
                drifts = (drift for drift in strange if drift.runtime == runtime.id and _shows(drift, one.source))
                status = "down" if one.freshness == "down" else "well" if one.freshness == "fresh" else "quiet"
                detail = "; ".join(drift.what for drift in drifts)
                heard = replace(told, heard_at=one.slot.heard_at, signals=len(one.slot.memory.seen))
                yield replace(heard, status=status, detail=detail)


def _shows(drift: Drift, source: Source) -> bool:
    """At which of its sources a drift is told: at those that speak no more, or else at its screen."""
    return (source.tier == "deterministic") if drift.kind == "silent_signals" else source.name == "screen"

"""Agents in memory for tests of operations: what a test says of an agent is so, and is news."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from msgspec.structs import replace

from termvisor.agents.state.identification import build_handshake_signature, identify_agent
from termvisor.agents.tracking import agent_events
from termvisor.bus import Bus, Subscription
from termvisor.clock import Clock
from termvisor.model.agent.attention import find_need
from termvisor.model.agent.drift import AgentDrift
from termvisor.model.agent.explanation import StateExplanation
from termvisor.model.agent.identification import AgentSignature, SignatureInputs
from termvisor.model.agent.session import AgentKind, AgentSession, AgentView, SourceHealth, TokenUsage
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange, StateName
from termvisor.model.agent.tool_finished import ToolFinished
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId, RuntimeId, SessionId, SignalId


class FakeAgents:
    """`begin`, `become`, `use` and `leave` are what agents do; all else is put into the lists.

    As in the daemon, a change is an event first, and news then.
    """

    def __init__(self, clock: Clock, record: Callable[[Event], object]):
        self._clock, self._record = clock, record
        self._state_bus: Bus[StateChange] = Bus()
        self.tool_end_bus: Bus[ToolFinished] = Bus()
        self.views_by_pane: dict[PaneId, AgentView] = {}
        self.explanations: dict[PaneId, StateExplanation] = {}
        self.signals: dict[SignalId, Signal] = {}
        self.stored_sessions: list[AgentSession] = []
        self.source_health: list[SourceHealth] = []
        self.agent_kinds: list[AgentKind] = []
        self.current_drifts: list[AgentDrift] = []

    async def list_views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        return {one: view for one, view in self.views_by_pane.items() if pane in (None, one)}

    async def list_signatures(self) -> dict[PaneId, AgentSignature]:
        return {pane: view.signature for pane, view in self.views_by_pane.items()}

    async def explain_state(self, pane: PaneId) -> StateExplanation | None:
        """What a test put there, or else the bare state."""
        view = self.views_by_pane.get(pane)
        if view is None or pane in self.explanations:
            return self.explanations.get(pane)
        age = None if view.state.since is None else self._clock.now() - view.state.since
        return StateExplanation(state=view.state, age=age, testimonies=(), would_change=())

    async def find_signals(self, signal_ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        return {number: self.signals[number] for number in signal_ids if number in self.signals}

    async def list_sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        fits = [one for one in self.stored_sessions if pane in (None, one.pane) and agent in (None, one.agent)]
        kept = [one for one in fits if since is None or one.ended_at is None or one.ended_at >= since]
        return kept[max(0, len(kept) - limit) :]

    async def list_sources(self) -> list[SourceHealth]:
        return list(self.source_health)

    async def list_kinds(self) -> list[AgentKind]:
        return list(self.agent_kinds)

    async def list_drifts(self) -> list[AgentDrift]:
        return list(self.current_drifts)

    def subscribe_state_changes(self) -> AbstractContextManager[Subscription[StateChange]]:
        return self._state_bus.subscribe()

    def subscribe_tool_ends(self) -> AbstractContextManager[Subscription[ToolFinished]]:
        return self.tool_end_bus.subscribe()

    def start_agent(self, pane: PaneId, agent: str = "claude_code", title: str = "") -> AgentView:
        """An agent is recognised in a pane; nothing is known of it yet."""
        number, now = len(self.stored_sessions) + 1, self._clock.now()
        session = AgentSession(
            id=SessionId(number), runtime=RuntimeId(number), pane=pane, agent=agent, title=title, started_at=now
        )
        self.stored_sessions.append(session)
        state = AgentState(runtime=session.runtime, pane=pane, agent=agent, reason="no_signal")
        found = identify_agent(SignatureInputs(provider_hint=agent, cmd_match=agent), "")
        view = AgentView(state=state, version=1, title=title or agent, session=session, signature=found)
        return self._store_view(view, None)

    def set_state(self, pane: PaneId, value: StateName, **changes: object) -> AgentView:
        """Its own word says that it does this now."""
        view, now = self.views_by_pane[pane], self._clock.now()
        told = {"reason": None, "evidence_mode": "deterministic", "source": "hook", "confidence": "high"}
        fresh = {"value": value, "since": now, "last_event": now, "binding": "managed_deterministic_fresh"}
        state = replace(view.state, **(told | fresh | changes))
        spoken = build_handshake_signature(state.agent, view.signature.signature_inputs)
        signature = spoken if state.evidence_mode == "deterministic" else view.signature
        return self._store_view(replace(view, state=state, version=view.version + 1, signature=signature), view.state)

    def set_usage(self, pane: PaneId, usage: TokenUsage, **changes: object) -> AgentView:
        """Its session has used so much by now."""
        view = self.views_by_pane[pane]
        session = replace(view.session, usage=usage, **changes) if view.session is not None else None
        self.stored_sessions = [
            session if session is not None and one.id == session.id else one for one in self.stored_sessions
        ]
        self.views_by_pane[pane] = replace(view, session=session)
        return self.views_by_pane[pane]

    def end_agent(self, pane: PaneId) -> None:
        """Its process is over."""
        view, now = self.views_by_pane.pop(pane), self._clock.now()
        self.stored_sessions = [
            replace(one, ended_at=now, end_reason="completed") if one.runtime == view.state.runtime else one
            for one in self.stored_sessions
        ]
        over = replace(view.state, value="unknown", reason="no_signal", presence="unmanaged", binding="unmanaged")
        change = StateChange(at=now, version=view.version + 1, before=view.state, after=over)
        self._publish_change(change, agent_events.build_ended_event(change, "completed"))

    def _store_view(self, view: AgentView, before: AgentState | None) -> AgentView:
        wanted, now = find_need(view.state), self._clock.now()
        kind, is_action = (wanted.kind, wanted.is_action) if wanted is not None else (None, False)
        shown = self.views_by_pane[view.state.pane] = replace(view, need=kind, needs_action=is_action)
        change = StateChange(at=now, version=view.version, before=before, after=view.state)
        self._publish_change(
            change, agent_events.build_changed_event(change) if before is not None else _build_start_event(change)
        )
        return shown

    def _publish_change(self, change: StateChange, event: Event | None) -> None:
        if event is not None:
            self._record(event)
        self._state_bus.publish(change)


def _build_start_event(change: StateChange) -> Event:
    state = change.after
    data: dict[str, Scalar] = {"runtime": state.runtime, "agent": state.agent, "pid": 1000}
    return Event(at=change.at, kind="agent_began", pane=state.pane, data=data)

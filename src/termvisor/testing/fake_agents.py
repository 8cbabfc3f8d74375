"""A fake agent service for tests of operations; every change is stored as an event and published."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from msgspec.structs import replace

from termvisor.agents.state.identification import build_handshake_signature, identify_agent
from termvisor.agents.tracking import transition
from termvisor.bus import Bus, Subscription
from termvisor.clock import Clock
from termvisor.daemon.services.agents import AgentService
from termvisor.model.agent.agent_process import AgentSignature, SignatureInputs
from termvisor.model.agent.agent_view import AgentKind, AgentView, PaneProgram
from termvisor.model.agent.attention import find_need
from termvisor.model.agent.evidence import AgentDrift, SourceHealth, StateExplanation
from termvisor.model.agent.hooks import ToolFinished
from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.agent.session import AgentSession, TokenUsage
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange, StateName
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId, RuntimeId, SessionId, SignalId


class FakeAgents(AgentService):
    """`start_agent`, `set_state`, `set_usage` and `end_agent` simulate agents. Tests put other data into the lists.

    As in the daemon, a change is stored as an event before it is published.
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
        return {known: view for known, view in self.views_by_pane.items() if pane in (None, known)}

    async def list_signatures(self) -> dict[PaneId, AgentSignature]:
        return {pane: view.signature for pane, view in self.views_by_pane.items()}

    async def explain_state(self, pane: PaneId) -> StateExplanation | None:
        """Return the explanation set by the test, or else one with only the state."""
        view = self.views_by_pane.get(pane)
        if view is None or pane in self.explanations:
            return self.explanations.get(pane)
        age = None if view.state.since is None else self._clock.now() - view.state.since
        return StateExplanation(state=view.state, age=age, testimonies=(), would_change=())

    async def find_signals(self, signal_ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        return {signal_id: self.signals[signal_id] for signal_id in signal_ids if signal_id in self.signals}

    async def list_sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        sessions = [item for item in self.stored_sessions if pane in (None, item.pane) and agent in (None, item.agent)]
        sessions = [item for item in sessions if since is None or item.ended_at is None or item.ended_at >= since]
        return sessions[max(0, len(sessions) - limit) :]

    async def list_sources(self) -> list[SourceHealth]:
        return list(self.source_health)

    async def list_kinds(self) -> list[AgentKind]:
        return list(self.agent_kinds)

    async def find_program(self, pane: PaneId) -> PaneProgram | None:
        return PaneProgram(name="node", script="mine")

    async def list_description_problems(self) -> list[str]:
        return []

    async def list_drifts(self) -> list[AgentDrift]:
        return list(self.current_drifts)

    def subscribe_state_changes(self) -> AbstractContextManager[Subscription[StateChange]]:
        return self._state_bus.subscribe()

    def subscribe_tool_ends(self) -> AbstractContextManager[Subscription[ToolFinished]]:
        return self.tool_end_bus.subscribe()

    def start_agent(self, pane: PaneId, agent: str = "claude_code", title: str = "") -> AgentView:
        """Simulate discovering an agent in a pane, in the state `unknown`."""
        number, now = len(self.stored_sessions) + 1, self._clock.now()
        session = AgentSession(
            id=SessionId(number), runtime=RuntimeId(number), pane=pane, agent=agent, title=title, started_at=now
        )
        self.stored_sessions.append(session)
        state = AgentState(runtime=session.runtime, pane=pane, agent=agent, reason="no_signal")
        signature = identify_agent(SignatureInputs(provider_hint=agent, cmd_match=agent), "")
        view = AgentView(state=state, version=1, title=title or agent, session=session, signature=signature)
        return self._store_view(view, None)

    def set_state(self, pane: PaneId, value: StateName, **changes: object) -> AgentView:
        """Simulate a state reported by the agent's hook."""
        view, now = self.views_by_pane[pane], self._clock.now()
        evidence = {"reason": None, "evidence_mode": "deterministic", "source": "hook", "confidence": "high"}
        fields = {"value": value, "since": now, "last_event": now, "binding": "managed_deterministic_fresh"}
        state = replace(view.state, **(evidence | fields | changes))
        # A hook acts as a handshake, because the agent identifies itself.
        handshake = build_handshake_signature(state.agent, view.signature.signature_inputs)
        signature = handshake if state.evidence_mode == "deterministic" else view.signature
        return self._store_view(replace(view, state=state, version=view.version + 1, signature=signature), view.state)

    def set_program(self, pane: PaneId, program: ProgramVersion) -> AgentView:
        """Set the version of the agent's program, also in its session."""
        view = self.views_by_pane[pane]
        session = replace(view.session, version=program.version) if view.session is not None else None
        return self._store_view(replace(view, program=program, session=session), view.state)

    def set_usage(self, pane: PaneId, usage: TokenUsage, **changes: object) -> AgentView:
        """Set the token usage and other fields of the agent's session."""
        view = self.views_by_pane[pane]
        session = replace(view.session, usage=usage, **changes) if view.session is not None else None
        self.stored_sessions = [
            session if session is not None and stored.id == session.id else stored for stored in self.stored_sessions
        ]
        self.views_by_pane[pane] = replace(view, session=session)
        return self.views_by_pane[pane]

    def end_agent(self, pane: PaneId) -> None:
        """Simulate the exit of the agent's process."""
        view, now = self.views_by_pane.pop(pane), self._clock.now()
        self.stored_sessions = [
            replace(session, ended_at=now, end_reason="completed") if session.runtime == view.state.runtime else session
            for session in self.stored_sessions
        ]
        ended = replace(view.state, value="unknown", reason="no_signal", presence="unmanaged", binding="unmanaged")
        change = StateChange(at=now, version=view.version + 1, before=view.state, after=ended)
        self._publish_change(change, transition.build_ended_event(change, "completed"))

    def _store_view(self, view: AgentView, before: AgentState | None) -> AgentView:
        need, now = find_need(view.state), self._clock.now()
        kind, is_action = (need.kind, need.is_action) if need is not None else (None, False)
        stored = self.views_by_pane[view.state.pane] = replace(view, need=kind, needs_action=is_action)
        change = StateChange(at=now, version=view.version, before=before, after=view.state)
        self._publish_change(
            change, transition.build_changed_event(change) if before is not None else _build_start_event(change)
        )
        return stored

    def _publish_change(self, change: StateChange, event: Event | None) -> None:
        # Store first, because `watch` re-reads the events when it is woken.
        if event is not None:
            self._record(event)
        self._state_bus.publish(change)


def _build_start_event(change: StateChange) -> Event:
    state = change.after
    data: dict[str, Scalar] = {"runtime": state.runtime, "agent": state.agent, "pid": 1000}
    return Event(at=change.at, kind="agent_began", pane=state.pane, data=data)

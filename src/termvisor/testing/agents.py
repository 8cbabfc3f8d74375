"""Agents in memory for tests of operations: what a test says of an agent is so, and is news."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

from msgspec.structs import replace

from termvisor.agents.state.identification import handshake, recognise
from termvisor.agents.tracking import agent_events as telling
from termvisor.bus import Bus, Subscription
from termvisor.clock import Clock
from termvisor.model.agent.attention import need
from termvisor.model.agent.drift import Drift
from termvisor.model.agent.explanation import Explanation
from termvisor.model.agent.identification import Signature, SignatureInputs
from termvisor.model.agent.session import AgentKind, AgentSession, AgentView, SourceHealth, Usage
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import AgentState, StateChange, StateName
from termvisor.model.agent.tool_finished import ToolEnd
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import PaneId, RuntimeId, SessionId, SignalId


class MemoryAgents:
    """`begin`, `become`, `use` and `leave` are what agents do; all else is put into the lists.

    As in the daemon, a change is an event first, and news then.
    """

    def __init__(self, clock: Clock, record: Callable[[Event], object]):
        self._clock, self._record = clock, record
        self._news: Bus[StateChange] = Bus()
        self.ended_tools: Bus[ToolEnd] = Bus()
        self.known: dict[PaneId, AgentView] = {}
        self.explanations: dict[PaneId, Explanation] = {}
        self.signals: dict[SignalId, Signal] = {}
        self.told: list[AgentSession] = []
        self.heard: list[SourceHealth] = []
        self.programs: list[AgentKind] = []
        self.drifted: list[Drift] = []

    async def views(self, pane: PaneId | None = None) -> dict[PaneId, AgentView]:
        return {one: view for one, view in self.known.items() if pane in (None, one)}

    async def signatures(self) -> dict[PaneId, Signature]:
        return {pane: view.signature for pane, view in self.known.items()}

    async def explain(self, pane: PaneId) -> Explanation | None:
        """What a test put there, or else the bare state."""
        view = self.known.get(pane)
        if view is None or pane in self.explanations:
            return self.explanations.get(pane)
        age = None if view.state.since is None else self._clock.now() - view.state.since
        return Explanation(state=view.state, age=age, testimonies=(), would_change=())

    async def evidence(self, signals: Iterable[SignalId]) -> dict[SignalId, Signal]:
        return {number: self.signals[number] for number in signals if number in self.signals}

    async def sessions(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        fits = [one for one in self.told if pane in (None, one.pane) and agent in (None, one.agent)]
        kept = [one for one in fits if since is None or one.ended_at is None or one.ended_at >= since]
        return kept[max(0, len(kept) - limit) :]

    async def sources(self) -> list[SourceHealth]:
        return list(self.heard)

    async def kinds(self) -> list[AgentKind]:
        return list(self.programs)

    async def drifts(self) -> list[Drift]:
        return list(self.drifted)

    def news(self) -> AbstractContextManager[Subscription[StateChange]]:
        return self._news.subscribe()

    def tool_ends(self) -> AbstractContextManager[Subscription[ToolEnd]]:
        return self.ended_tools.subscribe()

    def begin(self, pane: PaneId, agent: str = "claude_code", title: str = "") -> AgentView:
        """An agent is recognised in a pane; nothing is known of it yet."""
        number, now = len(self.told) + 1, self._clock.now()
        session = AgentSession(
            id=SessionId(number), runtime=RuntimeId(number), pane=pane, agent=agent, title=title, started_at=now
        )
        self.told.append(session)
        state = AgentState(runtime=session.runtime, pane=pane, agent=agent, reason="no_signal")
        found = recognise(SignatureInputs(provider_hint=agent, cmd_match=agent), "")
        view = AgentView(state=state, version=1, title=title or agent, session=session, signature=found)
        return self._put(view, None)

    def become(self, pane: PaneId, value: StateName, **changes: object) -> AgentView:
        """Its own word says that it does this now."""
        view, now = self.known[pane], self._clock.now()
        told = {"reason": None, "evidence_mode": "deterministic", "source": "hook", "confidence": "high"}
        fresh = {"value": value, "since": now, "last_event": now, "binding": "managed_deterministic_fresh"}
        state = replace(view.state, **(told | fresh | changes))
        spoken = handshake(state.agent, view.signature.signature_inputs)
        signature = spoken if state.evidence_mode == "deterministic" else view.signature
        return self._put(replace(view, state=state, version=view.version + 1, signature=signature), view.state)

    def use(self, pane: PaneId, usage: Usage, **changes: object) -> AgentView:
        """Its session has used so much by now."""
        view = self.known[pane]
        session = replace(view.session, usage=usage, **changes) if view.session is not None else None
        self.told = [session if session is not None and one.id == session.id else one for one in self.told]
        self.known[pane] = replace(view, session=session)
        return self.known[pane]

    def leave(self, pane: PaneId) -> None:
        """Its process is over."""
        view, now = self.known.pop(pane), self._clock.now()
        self.told = [
            replace(one, ended_at=now, end_reason="completed") if one.runtime == view.state.runtime else one
            for one in self.told
        ]
        over = replace(view.state, value="unknown", reason="no_signal", presence="unmanaged", binding="unmanaged")
        change = StateChange(at=now, version=view.version + 1, before=view.state, after=over)
        self._tell(change, telling.end(change, "completed"))

    def _put(self, view: AgentView, before: AgentState | None) -> AgentView:
        wanted, now = need(view.state), self._clock.now()
        kind, is_action = (wanted.kind, wanted.is_action) if wanted is not None else (None, False)
        shown = self.known[view.state.pane] = replace(view, need=kind, needs_action=is_action)
        change = StateChange(at=now, version=view.version, before=before, after=view.state)
        self._tell(change, telling.change(change) if before is not None else _began(change))
        return shown

    def _tell(self, change: StateChange, event: Event | None) -> None:
        if event is not None:
            self._record(event)
        self._news.publish(change)


def _began(change: StateChange) -> Event:
    state = change.after
    data: dict[str, Scalar] = {"runtime": state.runtime, "agent": state.agent, "pid": 1000}
    return Event(at=change.at, kind="agent_began", pane=state.pane, data=data)

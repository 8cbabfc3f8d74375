"""Bind signals to agent processes: a roster of running processes, and tombstones of those that exited.

A signal is bound only if everything it states about its process matches exactly one. While a pane has a tombstone, the
right pane is not enough proof, because it may be a late signal from the process that ran there before.
"""

from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.agent.signal import DropReason, ProcessHint, Signal
from termvisor.model.ids import PaneId, RuntimeId

_MAX_UNATTRIBUTED_SESSIONS = 64


class BoundAgent(Struct, frozen=True):
    """A running agent process and the sessions that it has reported."""

    runtime: AgentProcess
    sessions: tuple[str, ...] = ()


class Tombstone(Struct, frozen=True, kw_only=True):
    place: PaneLocation
    runtime: RuntimeId
    pid: int
    sessions: tuple[str, ...]
    ended_at: int


class UnattributedSession(Struct, frozen=True):
    """An agent's session in a folder where several agent processes could own it."""

    agent: str
    cwd: str
    session: str
    at: int = 0
    """When it was first reported."""

    def is_session_of(self, signal: Signal) -> bool:
        return (self.agent, self.cwd, self.session) == (signal.agent, signal.hint.cwd, signal.session)


class AgentRoster(Struct, frozen=True, kw_only=True):
    """Each pane has at most one agent process."""

    agents: dict[RuntimeId, BoundAgent] = field(default_factory=dict, name="tenants")
    tombstones: tuple[Tombstone, ...] = ()
    unattributed_sessions: tuple[UnattributedSession, ...] = field(default=(), name="doubts")
    """Kept after other agents left the folder, because that does not prove whose session it was."""


class UnboundSignal(Struct, frozen=True):
    """Result for a signal that no agent process, or more than one, matches."""

    why: Literal["dropped_unbound", "binding_conflict"]


def add_agent(roster: AgentRoster, agent_process: AgentProcess, at: int, thresholds: Thresholds) -> AgentRoster:
    """Add an agent process, ending any other one in the same pane or location."""
    for bound_agent in list(roster.agents.values()):
        old = bound_agent.runtime
        if old.id != agent_process.id and (old.pane == agent_process.pane or old.place == agent_process.place):
            roster = remove_agent(roster, old.id, at, thresholds)
    known = roster.agents.get(agent_process.id, BoundAgent(agent_process))
    return replace(roster, agents={**roster.agents, agent_process.id: replace(known, runtime=agent_process)})


def remove_agent(roster: AgentRoster, agent_process_id: RuntimeId, at: int, thresholds: Thresholds) -> AgentRoster:
    bound_agent = roster.agents.get(agent_process_id)
    if bound_agent is None:
        return roster
    process = bound_agent.runtime
    stone = Tombstone(
        place=process.place, runtime=process.id, pid=process.pid, sessions=bound_agent.sessions, ended_at=at
    )
    recent = tuple(stone for stone in roster.tombstones if at - stone.ended_at <= thresholds.tombstone_for)
    others = {id_: agent for id_, agent in roster.agents.items() if id_ != agent_process_id}
    return replace(roster, agents=others, tombstones=(*recent, stone))


def remove_pane(roster: AgentRoster, pane: PaneId, at: int, thresholds: Thresholds) -> AgentRoster:
    """Remove the agent process of a closed pane."""
    for bound_agent in list(roster.agents.values()):
        if bound_agent.runtime.pane == pane:
            roster = remove_agent(roster, bound_agent.runtime.id, at, thresholds)
    return roster


def add_session(roster: AgentRoster, agent_process_id: RuntimeId, session: str) -> AgentRoster:
    """Record a session named by a signal of this agent process."""
    bound_agent = roster.agents[agent_process_id]
    if not session or session in bound_agent.sessions:
        return roster
    known = BoundAgent(bound_agent.runtime, (*bound_agent.sessions, session))
    return replace(roster, agents={**roster.agents, agent_process_id: known})


def add_unattributed_session(roster: AgentRoster, signal: Signal) -> AgentRoster:
    """Record a session whose agent process cannot be determined."""
    if not signal.session or is_unattributed(roster, signal):
        return roster
    session = UnattributedSession(signal.agent, signal.hint.cwd, signal.session, signal.ingested_at)
    return replace(roster, unattributed_sessions=(*roster.unattributed_sessions, session)[-_MAX_UNATTRIBUTED_SESSIONS:])


def is_unattributed(roster: AgentRoster, signal: Signal) -> bool:
    """Return True if the session of this signal could not be attributed before."""
    return any(session.is_session_of(signal) for session in roster.unattributed_sessions)


def is_ambiguous(roster: AgentRoster, agent_process: AgentProcess) -> bool:
    """Return True if an unattributed session from its folder and lifetime may belong to this process."""
    # A session that an agent has reported itself in the meantime is no longer in doubt.
    attributed = {session for bound_agent in roster.agents.values() for session in bound_agent.sessions}
    return any(
        (session.agent, session.cwd) == (agent_process.agent, agent_process.cwd)
        and session.at >= agent_process.started_at
        and session.session not in attributed
        for session in roster.unattributed_sessions
    )


def bind_signal(roster: AgentRoster, signal: Signal, thresholds: Thresholds) -> RuntimeId | UnboundSignal | DropReason:
    """Return the agent process of a signal, `UnboundSignal` if none is found yet, or why there can be none."""
    if signal.runtime is not None:
        if signal.runtime in roster.agents:
            return signal.runtime
        has_ended = any(stone.runtime == signal.runtime for stone in roster.tombstones)
        return "late_event" if has_ended else "runtime_mismatch"
    candidates = [bound_agent for bound_agent in roster.agents.values() if _is_match(bound_agent, signal)]
    # Files such as transcripts name only a folder, in which several processes of an agent may work.
    if is_folder_only(signal.hint):
        proven, source = _find_proven_owners(candidates, signal), thresholds.find_source(signal.agent, signal.source)
        if not proven and (signal.hint.is_doubtful or is_unattributed(roster, signal)):
            return UnboundSignal("binding_conflict" if candidates else "dropped_unbound")
        is_shared = source is not None and source.is_shared
        candidates = proven or [agent for agent in candidates if not is_shared or not agent.sessions]
    if len(candidates) != 1:
        return UnboundSignal("binding_conflict" if candidates else "dropped_unbound")
    return _check_tombstones(roster, candidates[0], signal, thresholds) or candidates[0].runtime.id


def is_folder_only(hint: ProcessHint) -> bool:
    """Return True if the hint names a folder but no pane or process."""
    return bool(hint.cwd) and not hint.mux_pane and not hint.pid


def _find_proven_owners(candidates: list[BoundAgent], signal: Signal) -> list[BoundAgent]:
    """Return the agents that delivered the signal themselves, or else those that reported its session."""
    return [agent for agent in candidates if signal.hint.via == agent.runtime.pid > 0] or [
        agent for agent in candidates if signal.session and signal.session in agent.sessions
    ]


def _is_match(bound_agent: BoundAgent, signal: Signal) -> bool:
    """Return True if the hint matches the process and names a pane, pid, folder or one of its sessions."""
    runtime, hint = bound_agent.runtime, signal.hint
    place = runtime.place
    hinted_and_actual = (
        (hint.mux_pane, place.mux_pane),
        (hint.socket, place.socket),
        (hint.pid, runtime.pid),
        (hint.pid_started, runtime.pid_started),
        (hint.cwd, runtime.cwd),
    )
    is_same = (signal.agent, hint.target) == (runtime.agent, place.target)
    is_specific = bool(hint.mux_pane or hint.pid or hint.cwd) or signal.session in bound_agent.sessions
    return is_same and is_specific and all(not hinted or hinted == actual for hinted, actual in hinted_and_actual)


def _check_tombstones(
    roster: AgentRoster, bound_agent: BoundAgent, signal: Signal, thresholds: Thresholds
) -> DropReason | None:
    """Return why a signal from this pane may belong to an earlier agent process; None if it does not."""
    runtime, at = bound_agent.runtime, signal.ingested_at
    # A pid with its start time identifies one process; a pid alone may have been reused.
    if signal.hint.pid and signal.hint.pid_started:
        return None
    if signal.event_at < runtime.started_at:
        return "late_event"
    predecessors = [
        stone
        for stone in roster.tombstones
        if stone.place == runtime.place and at - stone.ended_at <= thresholds.tombstone_for
    ]
    is_named = signal.hint.pid or signal.hint.via == runtime.pid > 0
    if not predecessors or signal.session in bound_agent.sessions or is_named:
        return None
    is_earlier_session = any(signal.session in stone.sessions for stone in predecessors)
    return "runtime_mismatch" if is_earlier_session or not signal.session else None

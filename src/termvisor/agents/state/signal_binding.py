"""Whose signal it is: a roster of living runtimes, and tombstones of those that ended.

A signal belongs to a runtime only if everything that it tells of its process fits that one alone. While a place still
has a tombstone, being in the right pane is not enough: it might be a late word of the one who was there before.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.agent_process import AgentProcess, PaneLocation
from termvisor.model.agent.signal import DropReason, ProcessHint, Signal
from termvisor.model.ids import PaneId, RuntimeId

_MAX_UNATTRIBUTED_SESSIONS = 64


class BoundAgent(Struct, frozen=True):
    """A living runtime and the sessions that it has shown."""

    runtime: AgentProcess
    sessions: tuple[str, ...] = ()


class Tombstone(Struct, frozen=True, kw_only=True):
    place: PaneLocation
    runtime: RuntimeId
    pid: int
    sessions: tuple[str, ...]
    ended_at: int


class UnattributedSession(Struct, frozen=True):
    """A session of somebody who works in a folder, and nobody can prove who that is."""

    agent: str
    cwd: str
    session: str
    at: int = 0
    """When that was first told."""

    def is_session_of(self, signal: Signal) -> bool:
        return (self.agent, self.cwd, self.session) == (signal.agent, signal.hint.cwd, signal.session)


class AgentRoster(Struct, frozen=True, kw_only=True):
    """Of every pane at most one runtime is the current one."""

    tenants: dict[RuntimeId, BoundAgent] = {}
    tombstones: tuple[Tombstone, ...] = ()
    doubts: tuple[UnattributedSession, ...] = ()
    """They stay: that others left the folder does not prove whose it was."""


class UnboundSignal(Struct, frozen=True):
    """No runtime yet: nobody fits, or more than one does."""

    why: Literal["dropped_unbound", "binding_conflict"]


def add_agent(roster: AgentRoster, agent_process: AgentProcess, at: int, thresholds: Thresholds) -> AgentRoster:
    """A runtime that begins ends whatever was in its pane, and in its place."""
    for tenant in list(roster.tenants.values()):
        old = tenant.runtime
        if old.id != agent_process.id and (old.pane == agent_process.pane or old.place == agent_process.place):
            roster = remove_agent(roster, old.id, at, thresholds)
    known = roster.tenants.get(agent_process.id, BoundAgent(agent_process))
    return replace(roster, tenants={**roster.tenants, agent_process.id: replace(known, runtime=agent_process)})


def remove_agent(roster: AgentRoster, agent_process_id: RuntimeId, at: int, thresholds: Thresholds) -> AgentRoster:
    tenant = roster.tenants.get(agent_process_id)
    if tenant is None:
        return roster
    gone = tenant.runtime
    stone = Tombstone(place=gone.place, runtime=gone.id, pid=gone.pid, sessions=tenant.sessions, ended_at=at)
    standing = tuple(one for one in roster.tombstones if at - one.ended_at <= thresholds.tombstone_for)
    left = {id_: one for id_, one in roster.tenants.items() if id_ != agent_process_id}
    return replace(roster, tenants=left, tombstones=(*standing, stone))


def remove_pane(roster: AgentRoster, pane: PaneId, at: int, thresholds: Thresholds) -> AgentRoster:
    """A pane is gone, and with it what ran in it."""
    for tenant in list(roster.tenants.values()):
        if tenant.runtime.pane == pane:
            roster = remove_agent(roster, tenant.runtime.id, at, thresholds)
    return roster


def add_session(roster: AgentRoster, agent_process_id: RuntimeId, session: str) -> AgentRoster:
    """A signal of this runtime named its session."""
    tenant = roster.tenants[agent_process_id]
    if not session or session in tenant.sessions:
        return roster
    known = BoundAgent(tenant.runtime, (*tenant.sessions, session))
    return replace(roster, tenants={**roster.tenants, agent_process_id: known})


def add_unattributed_session(roster: AgentRoster, signal: Signal) -> AgentRoster:
    """Whose session it is, nobody can prove."""
    if not signal.session or is_unattributed(roster, signal):
        return roster
    doubt = UnattributedSession(signal.agent, signal.hint.cwd, signal.session, signal.ingested_at)
    return replace(roster, doubts=(*roster.doubts, doubt)[-_MAX_UNATTRIBUTED_SESSIONS:])


def is_unattributed(roster: AgentRoster, signal: Signal) -> bool:
    """Whether its session was nobody's alone before."""
    return any(doubt.is_session_of(signal) for doubt in roster.doubts)


def is_ambiguous(roster: AgentRoster, agent_process: AgentProcess) -> bool:
    """Whether, in its time, a session began in its folder that may be its own, and still nobody has shown it."""
    shown = {session for tenant in roster.tenants.values() for session in tenant.sessions}
    return any(
        (one.agent, one.cwd) == (agent_process.agent, agent_process.cwd)
        and one.at >= agent_process.started_at
        and one.session not in shown
        for one in roster.doubts
    )


def bind_signal(roster: AgentRoster, signal: Signal, thresholds: Thresholds) -> RuntimeId | UnboundSignal | DropReason:
    """The runtime of a signal; that none is found yet; or why it can have none."""
    if signal.runtime is not None:
        return _check_known(roster, signal.runtime)
    fitting = [one for one in roster.tenants.values() if _is_match(one, signal)]
    if is_folder_only(signal.hint):
        fitting = _filter_folder_candidates(roster, fitting, signal, thresholds)
    if len(fitting) != 1:
        return UnboundSignal("binding_conflict" if fitting else "dropped_unbound")
    return _check_tombstones(roster, fitting[0], signal, thresholds) or fitting[0].runtime.id


def is_folder_only(hint: ProcessHint) -> bool:
    """Whether the folder is all that it tells."""
    return bool(hint.cwd) and not hint.mux_pane and not hint.pid


def _filter_folder_candidates(
    roster: AgentRoster, candidates: list[BoundAgent], signal: Signal, thresholds: Thresholds
) -> list[BoundAgent]:
    """Whose it may be: theirs who handed it on themselves, or showed its session; else of all, if nobody else is there.

    Somebody who works in no pane of ours counts as well; so does a session that was nobody's before.
    """
    proven = [one for one in candidates if signal.hint.via == one.runtime.pid > 0] or [
        one for one in candidates if signal.session and signal.session in one.sessions
    ]
    if proven:
        return proven
    if signal.hint.is_doubtful or is_unattributed(roster, signal):
        return [*candidates, *candidates]  # nobody's alone
    source = thresholds.find_source(signal.agent, signal.source)
    is_shared = source is not None and source.is_shared
    return [one for one in candidates if not is_shared or not one.sessions]


def _check_known(roster: AgentRoster, agent_process_id: RuntimeId) -> RuntimeId | DropReason:
    if agent_process_id in roster.tenants:
        return agent_process_id
    has_ended = any(stone.runtime == agent_process_id for stone in roster.tombstones)
    return "late_event" if has_ended else "runtime_mismatch"


def _is_match(bound_agent: BoundAgent, signal: Signal) -> bool:
    """Whether all that was told is true of it, and enough was told to say so: a session that it has shown is enough."""
    runtime, hint = bound_agent.runtime, signal.hint
    place = runtime.place
    told = (
        (hint.mux_pane, place.mux_pane),
        (hint.socket, place.socket),
        (hint.pid, runtime.pid),
        (hint.pid_started, runtime.pid_started),
        (hint.cwd, runtime.cwd),
    )
    is_same = (signal.agent, hint.target) == (runtime.agent, place.target)
    says_enough = bool(hint.mux_pane or hint.pid or hint.cwd) or signal.session in bound_agent.sessions
    return is_same and says_enough and all(not said or said == is_ for said, is_ in told)


def _check_tombstones(
    roster: AgentRoster, bound_agent: BoundAgent, signal: Signal, thresholds: Thresholds
) -> DropReason | None:
    """Why it is not the newcomer's, although it came from there; None if it is."""
    runtime, at = bound_agent.runtime, signal.ingested_at
    if signal.hint.pid and signal.hint.pid_started:
        return None
    if signal.event_at < runtime.started_at:
        return "late_event"
    buried = [
        stone
        for stone in roster.tombstones
        if stone.place == runtime.place and at - stone.ended_at <= thresholds.tombstone_for
    ]
    is_named = signal.hint.pid or signal.hint.via == runtime.pid > 0
    if not buried or signal.session in bound_agent.sessions or is_named:
        return None
    was_theirs = any(signal.session in stone.sessions for stone in buried)
    return "runtime_mismatch" if was_theirs or not signal.session else None

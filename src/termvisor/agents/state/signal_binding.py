"""Whose signal it is: a roster of living runtimes, and tombstones of those that ended.

A signal belongs to a runtime only if everything that it tells of its process fits that one alone. While a place still
has a tombstone, being in the right pane is not enough: it might be a late word of the one who was there before.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.agent_process import Place, Runtime
from termvisor.model.agent.signal import Dropped, Hint, Signal
from termvisor.model.ids import PaneId, RuntimeId

_DOUBTS = 64


class Tenant(Struct, frozen=True):
    """A living runtime and the sessions that it has shown."""

    runtime: Runtime
    sessions: tuple[str, ...] = ()


class Tombstone(Struct, frozen=True, kw_only=True):
    place: Place
    runtime: RuntimeId
    pid: int
    sessions: tuple[str, ...]
    ended_at: int


class Doubt(Struct, frozen=True):
    """A session of somebody who works in a folder, and nobody can prove who that is."""

    agent: str
    cwd: str
    session: str
    at: int = 0
    """When that was first told."""

    def is_of(self, signal: Signal) -> bool:
        return (self.agent, self.cwd, self.session) == (signal.agent, signal.hint.cwd, signal.session)


class Roster(Struct, frozen=True, kw_only=True):
    """Of every pane at most one runtime is the current one."""

    tenants: dict[RuntimeId, Tenant] = {}
    tombstones: tuple[Tombstone, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    """They stay: that others left the folder does not prove whose it was."""


class Unbound(Struct, frozen=True):
    """No runtime yet: nobody fits, or more than one does."""

    why: Literal["dropped_unbound", "binding_conflict"]


def began(roster: Roster, runtime: Runtime, at: int, measure: Measure) -> Roster:
    """A runtime that begins ends whatever was in its pane, and in its place."""
    for tenant in list(roster.tenants.values()):
        old = tenant.runtime
        if old.id != runtime.id and (old.pane == runtime.pane or old.place == runtime.place):
            roster = ended(roster, old.id, at, measure)
    known = roster.tenants.get(runtime.id, Tenant(runtime))
    return replace(roster, tenants={**roster.tenants, runtime.id: replace(known, runtime=runtime)})


def ended(roster: Roster, runtime: RuntimeId, at: int, measure: Measure) -> Roster:
    tenant = roster.tenants.get(runtime)
    if tenant is None:
        return roster
    gone = tenant.runtime
    stone = Tombstone(place=gone.place, runtime=gone.id, pid=gone.pid, sessions=tenant.sessions, ended_at=at)
    standing = tuple(one for one in roster.tombstones if at - one.ended_at <= measure.tombstone_for)
    left = {id_: one for id_, one in roster.tenants.items() if id_ != runtime}
    return replace(roster, tenants=left, tombstones=(*standing, stone))


def closed(roster: Roster, pane: PaneId, at: int, measure: Measure) -> Roster:
    """A pane is gone, and with it what ran in it."""
    for tenant in list(roster.tenants.values()):
        if tenant.runtime.pane == pane:
            roster = ended(roster, tenant.runtime.id, at, measure)
    return roster


def showed(roster: Roster, runtime: RuntimeId, session: str) -> Roster:
    """A signal of this runtime named its session."""
    tenant = roster.tenants[runtime]
    if not session or session in tenant.sessions:
        return roster
    known = Tenant(tenant.runtime, (*tenant.sessions, session))
    return replace(roster, tenants={**roster.tenants, runtime: known})


def doubted(roster: Roster, signal: Signal) -> Roster:
    """Whose session it is, nobody can prove."""
    if not signal.session or is_doubted(roster, signal):
        return roster
    doubt = Doubt(signal.agent, signal.hint.cwd, signal.session, signal.ingested_at)
    return replace(roster, doubts=(*roster.doubts, doubt)[-_DOUBTS:])


def is_doubted(roster: Roster, signal: Signal) -> bool:
    """Whether its session was nobody's alone before."""
    return any(doubt.is_of(signal) for doubt in roster.doubts)


def is_ambiguous(roster: Roster, runtime: Runtime) -> bool:
    """Whether, in its time, a session began in its folder that may be its own, and still nobody has shown it."""
    shown = {session for tenant in roster.tenants.values() for session in tenant.sessions}
    return any(
        (one.agent, one.cwd) == (runtime.agent, runtime.cwd)
        and one.at >= runtime.started_at
        and one.session not in shown
        for one in roster.doubts
    )


def bind(roster: Roster, signal: Signal, measure: Measure) -> RuntimeId | Unbound | Dropped:
    """The runtime of a signal; that none is found yet; or why it can have none."""
    if signal.runtime is not None:
        return _guarded(roster, signal.runtime)
    fitting = [one for one in roster.tenants.values() if _fits(one, signal)]
    if is_by_folder(signal.hint):
        fitting = _in_the_folder(roster, fitting, signal, measure)
    if len(fitting) != 1:
        return Unbound("binding_conflict" if fitting else "dropped_unbound")
    return _against_the_dead(roster, fitting[0], signal, measure) or fitting[0].runtime.id


def is_by_folder(hint: Hint) -> bool:
    """Whether the folder is all that it tells."""
    return bool(hint.cwd) and not hint.mux_pane and not hint.pid


def _in_the_folder(roster: Roster, sitting: list[Tenant], signal: Signal, measure: Measure) -> list[Tenant]:
    """Whose it may be: theirs who handed it on themselves, or showed its session; else of all, if nobody else is there.

    Somebody who works in no pane of ours counts as well; so does a session that was nobody's before.
    """
    proven = [one for one in sitting if signal.hint.via == one.runtime.pid > 0] or [
        one for one in sitting if signal.session and signal.session in one.sessions
    ]
    if proven:
        return proven
    if signal.hint.is_doubtful or is_doubted(roster, signal):
        return [*sitting, *sitting]  # nobody's alone
    source = measure.source(signal.agent, signal.source)
    is_shared = source is not None and source.is_shared
    return [one for one in sitting if not is_shared or not one.sessions]


def _guarded(roster: Roster, runtime: RuntimeId) -> RuntimeId | Dropped:
    if runtime in roster.tenants:
        return runtime
    has_ended = any(stone.runtime == runtime for stone in roster.tombstones)
    return "late_event" if has_ended else "runtime_mismatch"


def _fits(tenant: Tenant, signal: Signal) -> bool:
    """Whether all that was told is true of it, and enough was told to say so: a session that it has shown is enough."""
    runtime, hint = tenant.runtime, signal.hint
    place = runtime.place
    told = (
        (hint.mux_pane, place.mux_pane),
        (hint.socket, place.socket),
        (hint.pid, runtime.pid),
        (hint.pid_started, runtime.pid_started),
        (hint.cwd, runtime.cwd),
    )
    is_same = (signal.agent, hint.target) == (runtime.agent, place.target)
    says_enough = bool(hint.mux_pane or hint.pid or hint.cwd) or signal.session in tenant.sessions
    return is_same and says_enough and all(not said or said == is_ for said, is_ in told)


def _against_the_dead(roster: Roster, tenant: Tenant, signal: Signal, measure: Measure) -> Dropped | None:
    """Why it is not the newcomer's, although it came from there; None if it is."""
    runtime, at = tenant.runtime, signal.ingested_at
    if signal.hint.pid and signal.hint.pid_started:
        return None
    if signal.event_at < runtime.started_at:
        return "late_event"
    buried = [
        stone
        for stone in roster.tombstones
        if stone.place == runtime.place and at - stone.ended_at <= measure.tombstone_for
    ]
    is_named = signal.hint.pid or signal.hint.via == runtime.pid > 0
    if not buried or signal.session in tenant.sessions or is_named:
        return None
    was_theirs = any(signal.session in stone.sessions for stone in buried)
    return "runtime_mismatch" if was_theirs or not signal.session else None

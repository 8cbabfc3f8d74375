"""Whose signal it is: a roster of living runtimes, and tombstones of those that ended.

A signal belongs to a runtime only if everything that it tells of its process fits that one alone. While a place still
has a tombstone, being in the right pane is not enough: it might be a late word of the one who was there before.
"""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.ids import PaneId, RuntimeId
from termvisor.model.runtime import Place, Runtime
from termvisor.model.signal import Dropped, Hint, Signal
from termvisor.state.measure import Measure


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


class Roster(Struct, frozen=True, kw_only=True):
    """Of every pane at most one runtime is the current one."""

    tenants: dict[RuntimeId, Tenant] = {}
    tombstones: tuple[Tombstone, ...] = ()


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
    return Roster(tenants=left, tombstones=(*standing, stone))


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


def bind(roster: Roster, signal: Signal, measure: Measure) -> RuntimeId | Unbound | Dropped:
    """The runtime of a signal; that none is found yet; or why it can have none."""
    if signal.runtime is not None:
        return _guarded(roster, signal.runtime)
    source = measure.source(signal.agent, signal.source)
    is_shared = source is not None and source.is_shared
    fitting = [one for one in roster.tenants.values() if _fits(one, signal) and (not is_shared or _knows(one, signal))]
    if len(fitting) != 1:
        return Unbound("binding_conflict" if fitting else "dropped_unbound")
    return _against_the_dead(roster, fitting[0], signal, measure) or fitting[0].runtime.id


def _guarded(roster: Roster, runtime: RuntimeId) -> RuntimeId | Dropped:
    if runtime in roster.tenants:
        return runtime
    has_ended = any(stone.runtime == runtime for stone in roster.tombstones)
    return "late_event" if has_ended else "runtime_mismatch"


def _fits(tenant: Tenant, signal: Signal) -> bool:
    """Whether all that was told is true of it, and enough was told to say so."""
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
    return is_same and _says_enough(hint) and all(not said or said == is_ for said, is_ in told)


def _knows(tenant: Tenant, signal: Signal) -> bool:
    """Whether it may be of a session of this runtime; before it has shown any, nobody can tell."""
    return not tenant.sessions or signal.session in tenant.sessions


def _says_enough(hint: Hint) -> bool:
    return bool(hint.mux_pane or hint.pid or hint.cwd)


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
    if not buried or signal.session in tenant.sessions or signal.hint.pid:
        return None
    was_theirs = any(signal.session in stone.sessions for stone in buried)
    return "runtime_mismatch" if was_theirs or not signal.session else None

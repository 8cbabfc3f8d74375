"""The machine's clock was set: all that is known keeps its age and its order, reckoned by the new time.

Without this a clock that is set back by an hour would shut out all news for an hour, for they would seem older than
what is known, and nothing would end meanwhile. What an agent told of the time of day, when a limit ends, stands.

What others call an instant is only ever moved back: whether their clock was set ahead, too, is not known, and what
they say next must not seem old.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from termvisor.agents.state.flags import Told
from termvisor.agents.state.hysteresis import Look, Statement
from termvisor.agents.state.seen_signals import Memory
from termvisor.agents.state.signal_binding import Roster, Tenant
from termvisor.agents.state.signal_order import Position
from termvisor.agents.state.source_slots import Ledger, Slot
from termvisor.agents.state.subtasks import Tasks
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import RuntimeId


def roster(known: Roster, by: int) -> Roster:
    return replace(
        known,
        tenants={number: _tenant(tenant, by) for number, tenant in known.tenants.items()},
        tombstones=tuple(replace(stone, ended_at=stone.ended_at + by) for stone in known.tombstones),
        doubts=tuple(replace(doubt, at=_instant(doubt.at, by)) for doubt in known.doubts),
    )


def ledger(known: Ledger, by: int) -> Ledger:
    slots = {name: _slot(slot, by) for name, slot in known.slots.items()}
    return Ledger(slots=slots, missed_at=_instant(known.missed_at, by))


def signal(waiting: Signal, by: int) -> Signal:
    return replace(waiting, event_at=waiting.event_at + by, ingested_at=waiting.ingested_at + by)


def latest(known: Roster, ledgers: Mapping[RuntimeId, Ledger]) -> int:
    """The newest instant that is known; 0 where nothing is."""
    heard = (slot.heard_at for one in ledgers.values() for slot in one.slots.values())
    ended = (stone.ended_at for stone in known.tombstones)
    return max([0, *heard, *ended, *(tenant.runtime.started_at for tenant in known.tenants.values())])


def _tenant(tenant: Tenant, by: int) -> Tenant:
    return replace(tenant, runtime=replace(tenant.runtime, started_at=_told(tenant.runtime.started_at, by)))


def _slot(slot: Slot, by: int) -> Slot:
    return replace(
        slot,
        cursor=_position(slot.cursor, by),
        memory=_memory(slot.memory, by),
        heard_at=_instant(slot.heard_at, by),
        said=_statement(slot.said, by),
        look=_look(slot.look, by),
        flags=_flags(slot.flags, by),
        tasks=_tasks(slot.tasks, by),
    )


def _instant(at: int, by: int) -> int:
    """0 and less stand for never."""
    return at + by if at > 0 else at


def _told(at: int, by: int) -> int:
    return _instant(at, min(by, 0))


def _position(place: Position, by: int) -> Position:
    life, number, happened_at, heard_at, signal_id = place
    return life, number, _told(happened_at, by), _instant(heard_at, by), signal_id


def _memory(memory: Memory, by: int) -> Memory:
    life, number, happened_at = memory.forgotten
    seen = {key: _position(place, by) for key, place in memory.seen.items()}
    return Memory(seen=seen, forgotten=(life, number, _told(happened_at, by)))


def _statement(said: Statement | None, by: int) -> Statement | None:
    return said if said is None else replace(said, since=said.since + by, at=said.at + by)


def _look(look: Look, by: int) -> Look:
    moved_at = None if look.moved_at is None else look.moved_at + by
    return replace(look, before=_statement(look.before, by), moved_at=moved_at)


def _flags(told: Told, by: int) -> Told:
    return {name: replace(flag, since=flag.since + by) for name, flag in told.items()}


def _tasks(tasks: Tasks, by: int) -> Tasks:
    told = {name: replace(one, place=_position(one.place, by), at=one.at + by) for name, one in tasks.told.items()}
    return replace(tasks, told=told, listed_at=_position(tasks.listed_at, by))

"""The machine's clock was set: all that is known keeps its age and its order, reckoned by the new time.

Without this a clock that is set back by an hour would shut out all news for an hour, for they would seem older than
what is known, and nothing would end meanwhile. What an agent told of the time of day, when a limit ends, stands.

What others call an instant is only ever moved back: whether their clock was set ahead, too, is not known, and what
they say next must not seem old.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from termvisor.agents.state.flags import FlagReports
from termvisor.agents.state.hysteresis import ScreenHistory, SourceStatement
from termvisor.agents.state.seen_signals import SeenSignals
from termvisor.agents.state.signal_binding import AgentRoster, BoundAgent
from termvisor.agents.state.signal_order import SignalPosition
from termvisor.agents.state.source_slots import SourceSlot, SourceSlots
from termvisor.agents.state.subtasks import Subtasks
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import RuntimeId


def shift_roster(roster: AgentRoster, offset_ns: int) -> AgentRoster:
    return replace(
        roster,
        tenants={number: _shift_agent(tenant, offset_ns) for number, tenant in roster.tenants.items()},
        tombstones=tuple(replace(stone, ended_at=stone.ended_at + offset_ns) for stone in roster.tombstones),
        doubts=tuple(replace(doubt, at=_shift_time(doubt.at, offset_ns)) for doubt in roster.doubts),
    )


def shift_source_slots(source_slots: SourceSlots, offset_ns: int) -> SourceSlots:
    slots = {name: _shift_slot(slot, offset_ns) for name, slot in source_slots.slots.items()}
    return SourceSlots(slots=slots, missed_at=_shift_time(source_slots.missed_at, offset_ns))


def shift_signal(pending_signal: Signal, offset_ns: int) -> Signal:
    return replace(
        pending_signal, event_at=pending_signal.event_at + offset_ns, ingested_at=pending_signal.ingested_at + offset_ns
    )


def find_latest_time(roster: AgentRoster, slots_by_agent: Mapping[RuntimeId, SourceSlots]) -> int:
    """The newest instant that is known; 0 where nothing is."""
    heard = (slot.heard_at for one in slots_by_agent.values() for slot in one.slots.values())
    ended = (stone.ended_at for stone in roster.tombstones)
    return max([0, *heard, *ended, *(tenant.runtime.started_at for tenant in roster.tenants.values())])


def _shift_agent(bound_agent: BoundAgent, offset_ns: int) -> BoundAgent:
    return replace(
        bound_agent,
        runtime=replace(bound_agent.runtime, started_at=_shift_source_time(bound_agent.runtime.started_at, offset_ns)),
    )


def _shift_slot(slot: SourceSlot, offset_ns: int) -> SourceSlot:
    return replace(
        slot,
        cursor=_shift_position(slot.cursor, offset_ns),
        memory=_shift_seen_signals(slot.memory, offset_ns),
        heard_at=_shift_time(slot.heard_at, offset_ns),
        said=_shift_statement(slot.said, offset_ns),
        look=_shift_screen_history(slot.look, offset_ns),
        flags=_shift_flags(slot.flags, offset_ns),
        tasks=_shift_subtasks(slot.tasks, offset_ns),
    )


def _shift_time(at: int, offset_ns: int) -> int:
    """0 and less stand for never."""
    return at + offset_ns if at > 0 else at


def _shift_source_time(at: int, offset_ns: int) -> int:
    return _shift_time(at, min(offset_ns, 0))


def _shift_position(position: SignalPosition, offset_ns: int) -> SignalPosition:
    life, number, happened_at, heard_at, signal_id = position
    return life, number, _shift_source_time(happened_at, offset_ns), _shift_time(heard_at, offset_ns), signal_id


def _shift_seen_signals(seen_signals: SeenSignals, offset_ns: int) -> SeenSignals:
    life, number, happened_at = seen_signals.forgotten
    seen = {key: _shift_position(place, offset_ns) for key, place in seen_signals.seen.items()}
    return SeenSignals(seen=seen, forgotten=(life, number, _shift_source_time(happened_at, offset_ns)))


def _shift_statement(statement: SourceStatement | None, offset_ns: int) -> SourceStatement | None:
    return (
        statement
        if statement is None
        else replace(statement, since=statement.since + offset_ns, at=statement.at + offset_ns)
    )


def _shift_screen_history(history: ScreenHistory, offset_ns: int) -> ScreenHistory:
    moved_at = None if history.moved_at is None else history.moved_at + offset_ns
    return replace(history, before=_shift_statement(history.before, offset_ns), moved_at=moved_at)


def _shift_flags(reports: FlagReports, offset_ns: int) -> FlagReports:
    return {name: replace(flag, since=flag.since + offset_ns) for name, flag in reports.items()}


def _shift_subtasks(subtasks: Subtasks, offset_ns: int) -> Subtasks:
    told = {
        name: replace(one, place=_shift_position(one.place, offset_ns), at=one.at + offset_ns)
        for name, one in subtasks.told.items()
    }
    return replace(subtasks, told=told, listed_at=_shift_position(subtasks.listed_at, offset_ns))

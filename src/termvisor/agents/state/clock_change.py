"""Shift all known instants after the system clock was set, so that ages and order stay the same.

Without this, a clock that is set back by an hour would make all new signals look older than the known ones for an hour,
and no deadline would pass meanwhile. Times of day reported by an agent (the end of a limit) are not shifted.

Timestamps of sources are only moved back: their clock may not have been set ahead, and their next signals must not look
late.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from termvisor.agents.state.flags import FlagReports
from termvisor.agents.state.hysteresis import ScreenHistory, SourceStatement
from termvisor.agents.state.signal_binding import AgentRoster, BoundAgent
from termvisor.agents.state.signal_order import SeenSignals, SignalPosition
from termvisor.agents.state.source_slots import SourceSlot, SourceSlots
from termvisor.agents.state.subtasks import Subtasks
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import RuntimeId


def shift_roster(roster: AgentRoster, offset_ns: int) -> AgentRoster:
    return replace(
        roster,
        agents={number: _shift_agent(agent, offset_ns) for number, agent in roster.agents.items()},
        tombstones=tuple(replace(stone, ended_at=stone.ended_at + offset_ns) for stone in roster.tombstones),
        unattributed_sessions=tuple(
            replace(session, at=_shift_time(session.at, offset_ns)) for session in roster.unattributed_sessions
        ),
    )


def shift_source_slots(source_slots: SourceSlots, offset_ns: int) -> SourceSlots:
    slots = {name: _shift_slot(slot, offset_ns) for name, slot in source_slots.slots.items()}
    return SourceSlots(slots=slots, output_missed_at=_shift_time(source_slots.output_missed_at, offset_ns))


def shift_signal(pending_signal: Signal, offset_ns: int) -> Signal:
    return replace(
        pending_signal, event_at=pending_signal.event_at + offset_ns, ingested_at=pending_signal.ingested_at + offset_ns
    )


def find_latest_time(roster: AgentRoster, slots_by_agent: Mapping[RuntimeId, SourceSlots]) -> int:
    """Return the latest known instant; 0 if there is none."""
    captured = (slot.heard_at for slots in slots_by_agent.values() for slot in slots.slots.values())
    ended = (stone.ended_at for stone in roster.tombstones)
    return max([0, *captured, *ended, *(agent.runtime.started_at for agent in roster.agents.values())])


def _shift_agent(bound_agent: BoundAgent, offset_ns: int) -> BoundAgent:
    return replace(
        bound_agent,
        runtime=replace(bound_agent.runtime, started_at=_shift_source_time(bound_agent.runtime.started_at, offset_ns)),
    )


def _shift_slot(slot: SourceSlot, offset_ns: int) -> SourceSlot:
    return replace(
        slot,
        cursor=_shift_position(slot.cursor, offset_ns),
        seen_signals=_shift_seen_signals(slot.seen_signals, offset_ns),
        heard_at=_shift_time(slot.heard_at, offset_ns),
        statement=_shift_statement(slot.statement, offset_ns),
        screen_history=_shift_screen_history(slot.screen_history, offset_ns),
        flags=_shift_flags(slot.flags, offset_ns),
        subtasks=_shift_subtasks(slot.subtasks, offset_ns),
    )


def _shift_time(at: int, offset_ns: int) -> int:
    """Shift an instant; 0 and less mean never."""
    return at + offset_ns if at > 0 else at


def _shift_source_time(at: int, offset_ns: int) -> int:
    return _shift_time(at, min(offset_ns, 0))


def _shift_position(position: SignalPosition, offset_ns: int) -> SignalPosition:
    life, number, event_at, captured_at, signal_id = position
    return life, number, _shift_source_time(event_at, offset_ns), _shift_time(captured_at, offset_ns), signal_id


def _shift_seen_signals(seen_signals: SeenSignals, offset_ns: int) -> SeenSignals:
    life, number, event_at = seen_signals.forgotten
    seen = {key: _shift_position(position, offset_ns) for key, position in seen_signals.seen.items()}
    return SeenSignals(seen=seen, forgotten=(life, number, _shift_source_time(event_at, offset_ns)))


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
    reports = {
        name: replace(report, place=_shift_position(report.place, offset_ns), at=report.at + offset_ns)
        for name, report in subtasks.reports.items()
    }
    return replace(subtasks, reports=reports, listed_at=_shift_position(subtasks.listed_at, offset_ns))

"""Detect that the system clock was set, and shift all known instants so that ages and order stay the same.

Without this, a clock that is set back by an hour would make all new signals look older than the known ones for an hour,
and no deadline would pass in the meantime. Times of day reported by an agent (the end of a limit) are not shifted.

Timestamps of sources are only moved back: their clock may not have been set ahead, and their next signals must not look
late.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from termvisor.agents.state.hysteresis import SourceStatement
from termvisor.agents.state.signal_admission import SeenSignals, SignalPosition
from termvisor.agents.state.signal_binding import AgentRoster
from termvisor.agents.state.source_slots import SourceSlot, SourceSlots
from termvisor.clock import NS
from termvisor.model.agent.signal import Signal
from termvisor.model.ids import RuntimeId

# A smaller difference is attributed to clock slewing (NTP).
_MAX_SLEW_NS = 2 * NS


class ClockJumpDetector:
    """Detects changes of the system clock by comparing it with the monotonic clock."""

    def __init__(self, now: int, monotonic: float):
        self._offset_ns = now - int(monotonic * NS)

    def detect_jump(self, now: int, monotonic: float) -> int:
        """Return by how many nanoseconds the clock was set since the last call; 0 if it was not."""
        jump_ns = now - int(monotonic * NS) - self._offset_ns
        # The offset is kept, so that a clock that is slewed for long is corrected once it is two seconds off.
        if abs(jump_ns) < _MAX_SLEW_NS:
            return 0
        self._offset_ns += jump_ns
        return jump_ns


def find_latest_time(roster: AgentRoster, slots_by_agent: Mapping[RuntimeId, SourceSlots]) -> int:
    """Return the latest known instant; 0 if there is none."""
    captured = (slot.heard_at for slots in slots_by_agent.values() for slot in slots.slots.values())
    ended = (stone.ended_at for stone in roster.tombstones)
    return max([0, *captured, *ended, *(agent.runtime.started_at for agent in roster.agents.values())])


def shift_roster(roster: AgentRoster, offset_ns: int) -> AgentRoster:
    agents = {}
    for number, agent in roster.agents.items():
        started_at = _shift_source_time(agent.runtime.started_at, offset_ns)
        agents[number] = replace(agent, runtime=replace(agent.runtime, started_at=started_at))
    return replace(
        roster,
        agents=agents,
        tombstones=tuple(replace(stone, ended_at=stone.ended_at + offset_ns) for stone in roster.tombstones),
        unattributed_sessions=tuple(
            replace(session, at=_shift_time(session.at, offset_ns)) for session in roster.unattributed_sessions
        ),
    )


def shift_source_slots(source_slots: SourceSlots, offset_ns: int) -> SourceSlots:
    slots = {name: _shift_slot(slot, offset_ns) for name, slot in source_slots.slots.items()}
    return SourceSlots(slots=slots, output_missed_at=_shift_time(source_slots.output_missed_at, offset_ns))


def shift_signal(pending_signal: Signal, offset_ns: int) -> Signal:
    event_at, ingested_at = pending_signal.event_at + offset_ns, pending_signal.ingested_at + offset_ns
    return replace(pending_signal, event_at=event_at, ingested_at=ingested_at)


def _shift_slot(slot: SourceSlot, offset_ns: int) -> SourceSlot:
    seen_signals, history, subtasks = slot.seen_signals, slot.screen_history, slot.subtasks
    life, number, event_at = seen_signals.forgotten
    return replace(
        slot,
        cursor=_shift_position(slot.cursor, offset_ns),
        seen_signals=SeenSignals(
            seen={key: _shift_position(position, offset_ns) for key, position in seen_signals.seen.items()},
            forgotten=(life, number, _shift_source_time(event_at, offset_ns)),
        ),
        heard_at=_shift_time(slot.heard_at, offset_ns),
        statement=_shift_statement(slot.statement, offset_ns),
        previous_statement=_shift_statement(slot.previous_statement, offset_ns),
        screen_history=replace(
            history,
            before=_shift_statement(history.before, offset_ns),
            moved_at=None if history.moved_at is None else history.moved_at + offset_ns,
            rested_since=None if history.rested_since is None else history.rested_since + offset_ns,
        ),
        flags={
            name: replace(flag, since=flag.since + offset_ns, event_at=_shift_time(flag.event_at, offset_ns))
            for name, flag in slot.flags.items()
        },
        subtasks=replace(
            subtasks,
            reports={
                name: replace(report, place=_shift_position(report.place, offset_ns), at=report.at + offset_ns)
                for name, report in subtasks.reports.items()
            },
            listed_at=_shift_position(subtasks.listed_at, offset_ns),
        ),
    )


def _shift_statement(statement: SourceStatement | None, offset_ns: int) -> SourceStatement | None:
    if statement is None:
        return None
    return replace(statement, since=statement.since + offset_ns, at=statement.at + offset_ns)


def _shift_position(position: SignalPosition, offset_ns: int) -> SignalPosition:
    life, number, event_at, captured_at, signal_id = position
    return life, number, _shift_source_time(event_at, offset_ns), _shift_time(captured_at, offset_ns), signal_id


def _shift_source_time(at: int, offset_ns: int) -> int:
    return _shift_time(at, min(offset_ns, 0))


def _shift_time(at: int, offset_ns: int) -> int:
    """Shift an instant. Values of 0 or less mean never and are not shifted."""
    return at + offset_ns if at > 0 else at

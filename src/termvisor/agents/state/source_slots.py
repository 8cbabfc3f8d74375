"""Keep the last statement of each source about one agent process (`SourceSlots`), and rate it (`SourceReading`).

Invariant: a duplicate signal, or one older than its source's cursor, changes nothing. Each source has its own slot and
cursor, so that no source can block another and the order between sources does not matter. A reading says what a source
states at one instant, and whether that can still be believed.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from termvisor.agents.state import signal_admission
from termvisor.agents.state.flags_and_subtasks import (
    FlagReports,
    Subtasks,
    apply_flag_signal,
    apply_subtask_list,
    apply_subtask_signal,
    is_late_report,
    list_flag_deadlines,
)
from termvisor.agents.state.hysteresis import (
    BUSY_STATES,
    REST_STATES,
    WAITING_STATES,
    ScreenHistory,
    SourceStatement,
    is_settled,
    list_statement_deadlines,
)
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.evidence import EvidenceSource
from termvisor.model.agent.signal import DropReason, Signal
from termvisor.model.agent.state import StateName, get_precedence

Freshness = Literal["fresh", "stale", "down", "gap"]
# On the screen, an agent at its prompt looks the same after success, after an error and before any work.
_STATE_GROUPS: dict[StateName, str] = {
    "idle": "rest",
    "completed": "rest",
    "error": "rest",
    "waiting_approval": "waiting",
    "waiting_input": "waiting",
    "running": "running",
    "unknown": "unknown",
}


class SourceSlot(Struct, frozen=True, kw_only=True):
    """The state of one source. Instants are of our clock."""

    cursor: signal_admission.SignalPosition = signal_admission.START_POSITION
    seen_signals: signal_admission.SeenSignals = field(default=signal_admission.SeenSignals(), name="memory")
    heard_at: int = 0
    is_down: bool = False
    statement: SourceStatement | None = field(default=None, name="said")
    previous_statement: SourceStatement | None = field(default=None, name="before")
    """The statement before that; screens use ``screen_history`` instead."""
    screen_history: ScreenHistory = field(default=ScreenHistory(), name="look")
    flags: FlagReports = {}
    subtasks: Subtasks = field(default=Subtasks(), name="tasks")
    title: str = ""
    misses: int = 0
    """Consecutive screens without an agent."""
    rule: str = ""
    """The rule that the last screen matched."""
    captures: dict[str, str] = {}
    """What that rule captured when it last captured anything."""


class SourceSlots(Struct, frozen=True, kw_only=True):
    slots: dict[str, SourceSlot] = {}
    output_missed_at: int = field(default=0, name="missed_at")
    """Output of the pane is missing up to this instant."""


EMPTY_SLOT = SourceSlot()


def apply_signal(
    source_slots: SourceSlots, signal: Signal, thresholds: Thresholds
) -> tuple[SourceSlots, DropReason | None]:
    """Return the slots after an admitted and bound signal, or the same slots and the reason why it was dropped."""
    slot = source_slots.slots.get(signal.source, EMPTY_SLOT)
    position = signal_admission.compute_position(signal)
    if signal.dedupe_key in slot.seen_signals.seen:
        return source_slots, "duplicate"
    is_late = is_late_report(slot.subtasks, signal.task, position) if signal.task else position <= slot.cursor
    if is_late or signal_admission.is_forgotten(slot.seen_signals, position):
        return source_slots, "late_event"
    updated = _update_slot(slot, signal, position, thresholds)
    return replace(source_slots, slots={**source_slots.slots, signal.source: updated}), None


def _update_slot(
    slot: SourceSlot, signal: Signal, position: signal_admission.SignalPosition, thresholds: Thresholds
) -> SourceSlot:
    updated = replace(
        slot,
        seen_signals=signal_admission.remember_signal(slot.seen_signals, signal.dedupe_key, position, thresholds),
        heard_at=max(slot.heard_at, signal.ingested_at),
        is_down=signal.kind == "source_down",
    )
    # Tasks have their own cursors: the end of one counts even if another signal arrived first.
    if signal.task:
        return replace(updated, subtasks=apply_subtask_signal(slot.subtasks, signal, position, thresholds))
    is_screen = signal.tier == "heuristic" and signal.kind in ("state", "no_agent")
    statement = _merge_statement(slot.statement, signal, thresholds)
    is_new = statement is not None and slot.statement is not None and statement.since != slot.statement.since
    rule = str(signal.payload.get("rule") or "") if is_screen else slot.rule
    captures = collect_captures(signal) if is_screen else {}
    return replace(
        updated,
        cursor=slot.cursor if _is_untimed_note(signal) else position,
        statement=statement,
        previous_statement=slot.statement if is_new and signal.tier == "deterministic" else slot.previous_statement,
        screen_history=_update_screen_history(slot, signal, thresholds) if is_screen else slot.screen_history,
        flags=apply_flag_signal(slot.flags, signal),
        subtasks=apply_subtask_list(slot.subtasks, signal, position),
        title=slot.title if signal.title is None else signal.title,
        misses=slot.misses + 1 if signal.kind == "no_agent" else 0 if signal.kind == "state" else slot.misses,
        rule=rule,
        captures=captures or (slot.captures if rule == slot.rule else {}),
    )


def _is_untimed_note(signal: Signal) -> bool:
    """Return True if a note has only the time at which it was read.

    Lines of a transcript without a time stand between lines with one. A state that was reported before such a line was
    read, and is read after it, is not late.
    """
    return signal.kind == "note" and signal.source_seq is None and signal.event_at >= signal.ingested_at


def collect_captures(signal: Signal) -> dict[str, str]:
    """Return what the rule of a screen captured; the program's version beside it comes from the banner."""
    return {
        key: str(value)
        for key, value in signal.payload.items()
        if key not in ("rule", "version") and value not in (None, "")
    }


def _merge_statement(last: SourceStatement | None, signal: Signal, thresholds: Thresholds) -> SourceStatement | None:
    """Return the new statement. If it repeats the last one, it keeps the start."""
    if signal.kind not in ("state", "no_agent"):
        return last
    statement = SourceStatement(
        state=signal.state or "unknown",
        reason=signal.reason if signal.kind == "state" else "unknown_screen",
        since=signal.ingested_at,
        at=signal.ingested_at,
        signal=signal.id,
        is_moving=signal.moved_at is not None and signal.ingested_at - signal.moved_at <= thresholds.moved_within,
    )
    if last is None or (last.state, last.reason) != (statement.state, statement.reason):
        return statement
    return replace(statement, since=last.since, is_moving=statement.is_moving or last.is_moving)


def _update_screen_history(slot: SourceSlot, signal: Signal, thresholds: Thresholds) -> ScreenHistory:
    """Keep the last believed statement until the new one is believed."""
    last, history = slot.statement, slot.screen_history
    is_same = last is not None and last.state == (signal.state or "unknown")
    was_settled = last is not None and is_settled(last, history, signal.ingested_at, thresholds)
    before = last if was_settled and not is_same else history.before
    rested_since = signal.ingested_at if history.rested_since is None else history.rested_since
    return ScreenHistory(
        before=before,
        was_busy=before is not None
        and (before.state in BUSY_STATES or (before.state == "unknown" and history.was_busy)),
        moved_at=max((at for at in (history.moved_at, signal.moved_at) if at is not None), default=None),
        rested_since=rested_since if signal.state in REST_STATES else None,
        interval=signal.look_interval,
        is_confirmed=is_same and was_settled,
    )


class SourceReading(Struct, frozen=True, kw_only=True):
    source: EvidenceSource
    slot: SourceSlot
    freshness: Freshness
    statement: SourceStatement | None
    """The statement to believe; None until one was reported, or shown on the screen for long enough."""

    @property
    def is_usable(self) -> bool:
        """Return True if the source reports a known state. An unknown state never overrides another source."""
        return self.freshness == "fresh" and self.statement is not None and self.statement.state != "unknown"

    @property
    def state(self) -> StateName:
        return self.statement.state if self.statement is not None else "unknown"

    @property
    def since(self) -> int:
        return self.statement.since if self.statement is not None else 0

    @property
    def has_begun_compaction(self) -> bool:
        """Return True if its last report is the start of a compaction."""
        flag = self.slot.flags.get("compacting")
        return flag is not None and flag.is_set and self.statement is not None and flag.since >= self.statement.at

    @property
    def sort_key(self) -> tuple[int, int, int, str]:
        """The smallest key is believed: by rank, then precedence, then the newest."""
        return self.source.rank, get_precedence(self.state), -self.since, self.source.name

    def read_at(self, at: int) -> "SourceReading | None":
        """Return the reading as of an earlier instant, as far as it is remembered; None if there was none."""
        if self.since <= at:
            return self
        previous = self.slot.previous_statement
        return None if previous is None or previous.state == "unknown" else replace(self, statement=previous)


def find_last_dialog_time(source_slots: SourceSlots) -> int:
    """Return when the screen last showed a dialog, as far as that is remembered; 0 if never."""
    slot = source_slots.slots.get("screen", EMPTY_SLOT)
    statements = (slot.statement, slot.screen_history.before)
    return max((one.at for one in statements if one is not None and one.state in WAITING_STATES), default=0)


def has_turn_started(source_slots: SourceSlots, agent: str, since: int, thresholds: Thresholds) -> bool:
    """Return True if the agent has itself reported work or a dialog that began after ``since``."""
    for name, slot in source_slots.slots.items():
        source = thresholds.find_source(agent, name)
        # A turn may already be over: its end is then the last statement.
        statements = (slot.statement, slot.previous_statement) if source and source.tier == "deterministic" else ()
        if any(one is not None and one.state in BUSY_STATES and one.since >= since for one in statements):
            return True
    return False


def is_compatible_state(one: StateName, other: StateName) -> bool:
    """Return True if both states can describe the same agent at the same moment."""
    return _STATE_GROUPS[one] == _STATE_GROUPS[other]


def read_sources(source_slots: SourceSlots, agent: str, now: int, thresholds: Thresholds) -> list[SourceReading]:
    """Return what each source reports, most reliable first. A stale report that the screen confirms counts as fresh."""
    readings = [
        _read_source(source_slots, source, slot, now, thresholds)
        for name, slot in source_slots.slots.items()
        if (source := thresholds.find_source(agent, name)) is not None
    ]
    screens = [one for one in readings if one.source.tier == "heuristic" and one.is_usable]
    return sorted((_extend_freshness(one, screens) for one in readings), key=lambda one: one.sort_key)


def _read_source(
    source_slots: SourceSlots, source: EvidenceSource, slot: SourceSlot, now: int, thresholds: Thresholds
) -> SourceReading:
    statement = slot.statement
    # Until a new statement of the screen is believed, the previous one counts.
    if source.tier == "heuristic" and statement is not None:
        history = slot.screen_history
        statement = statement if is_settled(statement, history, now, thresholds) else history.before
    freshness = _rate_freshness(source, slot, now, thresholds)
    # Output that was lost may have contained the mark that ends the state.
    if source.reads_stream and slot.heard_at <= source_slots.output_missed_at:
        freshness = "gap"
    return SourceReading(source=source, slot=slot, freshness=freshness, statement=statement)


def _rate_freshness(source: EvidenceSource, slot: SourceSlot, now: int, thresholds: Thresholds) -> Freshness:
    silent_for = now - slot.heard_at
    if slot.is_down or (source.beats and silent_for > thresholds.down_after):
        return "down"
    return "fresh" if silent_for <= (thresholds.fresh_for if source.beats else source.trusted_for) else "stale"


def _extend_freshness(reading: SourceReading, screen_readings: Sequence[SourceReading]) -> SourceReading:
    """Treat a stale source without heartbeat as fresh while the screen shows a compatible state."""
    # A missing heartbeat proves that the source is silent, whatever the screen shows.
    can_last = reading.freshness == "stale" and reading.source.tier == "deterministic" and not reading.source.beats
    if not can_last or reading.statement is None:
        return reading
    is_confirmed = any(is_compatible_state(reading.state, screen.state) for screen in screen_readings)
    return replace(reading, freshness="fresh") if is_confirmed else reading


def list_source_deadlines(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> list[int]:
    """List the instants at which time alone may change the rating of a source."""
    deadlines = _list_settling_deadlines(source_slots, agent, thresholds)
    for name, slot in source_slots.slots.items():
        source = thresholds.find_source(agent, name)
        if source is None:
            continue
        limits = (thresholds.fresh_for, thresholds.down_after) if source.beats else (source.trusted_for,)
        # One nanosecond later, because evidence of exactly that age is still believed.
        deadlines += [slot.heard_at + limit + 1 for limit in limits]
        reports = slot.subtasks.reports.values()
        deadlines += [report.at + thresholds.task_trusted_for + 1 for report in reports if report.is_open]
        deadlines += list_flag_deadlines(slot.flags)
        if source.tier == "heuristic" and slot.statement is not None:
            deadlines += list_statement_deadlines(slot.statement, slot.screen_history, thresholds)
    return deadlines


def _list_settling_deadlines(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> list[int]:
    """List when the statements beside an ambiguous `idle` of a source are settled (see the resolver)."""
    statements = {name: slot.statement for name, slot in source_slots.slots.items() if slot.statement is not None}
    idle = (thresholds.find_source(agent, name) for name, one in statements.items() if one.state == "idle")
    is_ambiguous = any(source is not None and source.blind_to for source in idle)
    return [one.since + thresholds.settled_after for one in statements.values()] if is_ambiguous else []

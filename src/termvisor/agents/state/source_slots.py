"""Keep the last statement of each source about one agent process (`SourceSlots`).

Invariant: a duplicate signal, or one older than its source's cursor, changes nothing. Each source has its own slot and
cursor, so that no source can block another and the order between sources does not matter.
"""

from msgspec import Struct, field
from msgspec.structs import replace

from termvisor.agents.state.flags_and_subtasks import (
    FlagReports,
    Subtasks,
    apply_flag_signal,
    apply_subtask_list,
    apply_subtask_signal,
    is_late_report,
)
from termvisor.agents.state.hysteresis import ScreenHistory, SourceStatement, is_settled
from termvisor.agents.state.signal_admission import (
    START_POSITION,
    SeenSignals,
    SignalPosition,
    compute_position,
    is_forgotten,
    remember_signal,
)
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import DropReason, Signal


class SourceSlot(Struct, frozen=True, kw_only=True):
    """The state of one source. Instants are of our clock."""

    cursor: SignalPosition = START_POSITION
    seen_signals: SeenSignals = field(default=SeenSignals(), name="memory")
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
    position = compute_position(signal)
    if signal.dedupe_key in slot.seen_signals.seen:
        return source_slots, "duplicate"
    is_late = is_late_report(slot.subtasks, signal.task, position) if signal.task else position <= slot.cursor
    if is_late or is_forgotten(slot.seen_signals, position):
        return source_slots, "late_event"
    updated = _update_slot(slot, signal, position, thresholds)
    return replace(source_slots, slots={**source_slots.slots, signal.source: updated}), None


def _update_slot(slot: SourceSlot, signal: Signal, position: SignalPosition, thresholds: Thresholds) -> SourceSlot:
    updated = replace(
        slot,
        seen_signals=remember_signal(slot.seen_signals, signal.dedupe_key, position, thresholds),
        heard_at=max(slot.heard_at, signal.ingested_at),
        is_down=signal.kind == "source_down",
    )
    # Tasks have their own cursors: the end of one counts even if another signal arrived first.
    if signal.task:
        return replace(updated, subtasks=apply_subtask_signal(slot.subtasks, signal, position, thresholds))
    is_screen = signal.tier == "heuristic" and signal.kind in ("state", "no_agent")
    statement = _merge_statement(slot.statement, signal, thresholds)
    is_new = statement is not None and slot.statement is not None and statement.since != slot.statement.since
    return replace(
        updated,
        cursor=position,
        statement=statement,
        previous_statement=slot.statement if is_new and signal.tier == "deterministic" else slot.previous_statement,
        screen_history=_update_screen_history(slot, signal, thresholds) if is_screen else slot.screen_history,
        flags=apply_flag_signal(slot.flags, signal),
        subtasks=apply_subtask_list(slot.subtasks, signal, position),
        title=slot.title if signal.title is None else signal.title,
        misses=slot.misses + 1 if signal.kind == "no_agent" else 0 if signal.kind == "state" else slot.misses,
        rule=str(signal.payload.get("rule") or "") if is_screen else slot.rule,
    )


def _merge_statement(last: SourceStatement | None, signal: Signal, thresholds: Thresholds) -> SourceStatement | None:
    """Return the new statement; one that repeats the last keeps its start."""
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
    return ScreenHistory(
        before=last if was_settled and not is_same else history.before,
        moved_at=max((at for at in (history.moved_at, signal.moved_at) if at is not None), default=None),
        interval=signal.look_interval,
        is_confirmed=is_same and was_settled,
    )

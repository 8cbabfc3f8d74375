"""A Ledger keeps what each source last said of one runtime.

Invariant: a signal that is doubled or older than its source's cursor leaves the ledger as it was. Every source has a
slot and a cursor of its own, so none can starve another, and the order in which sources are heard does not matter.
"""

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import flags
from termvisor.agents.state import subtasks as tasks
from termvisor.agents.state.flags import FlagReports
from termvisor.agents.state.hysteresis import ScreenHistory, SourceStatement, is_settled
from termvisor.agents.state.seen_signals import SeenSignals, is_forgotten, remember_signal
from termvisor.agents.state.signal_order import START_POSITION, SignalPosition, compute_position
from termvisor.agents.state.subtasks import Subtasks
from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.signal import DropReason, Signal


class SourceSlot(Struct, frozen=True, kw_only=True):
    """One source. Instants are our own."""

    cursor: SignalPosition = START_POSITION
    memory: SeenSignals = SeenSignals()
    heard_at: int = 0
    is_down: bool = False
    said: SourceStatement | None = None
    before: SourceStatement | None = None
    """What it said before that; of a look, see there."""
    look: ScreenHistory = ScreenHistory()
    flags: FlagReports = {}
    tasks: Subtasks = Subtasks()
    title: str = ""
    misses: int = 0
    """Looks in a row that found no agent."""
    rule: str = ""
    """Of a look: the rule that it showed last."""


class SourceSlots(Struct, frozen=True, kw_only=True):
    slots: dict[str, SourceSlot] = {}
    missed_at: int = 0
    """Up to when output of the pane is missing."""


EMPTY_SLOT = SourceSlot()


def apply_signal(
    source_slots: SourceSlots, signal: Signal, thresholds: Thresholds
) -> tuple[SourceSlots, DropReason | None]:
    """The ledger after a signal that was admitted and bound, or the same ledger and why it was dropped."""
    slot = source_slots.slots.get(signal.source, EMPTY_SLOT)
    place = compute_position(signal)
    if signal.dedupe_key in slot.memory.seen:
        return source_slots, "duplicate"
    if _is_late(slot, signal, place):
        return source_slots, "late_event"
    heard = _update_slot(slot, signal, place, thresholds)
    return replace(source_slots, slots={**source_slots.slots, signal.source: heard}), None


def _is_late(slot: SourceSlot, signal: Signal, position: SignalPosition) -> bool:
    if is_forgotten(slot.memory, position):
        return True
    return tasks.is_late_report(slot.tasks, signal.task, position) if signal.task else position <= slot.cursor


def _update_slot(slot: SourceSlot, signal: Signal, position: SignalPosition, thresholds: Thresholds) -> SourceSlot:
    heard = replace(
        slot,
        memory=remember_signal(slot.memory, signal.dedupe_key, position, thresholds),
        heard_at=max(slot.heard_at, signal.ingested_at),
        is_down=signal.kind == "source_down",
    )
    if signal.task:
        return replace(heard, tasks=tasks.apply_subtask_signal(slot.tasks, signal, position, thresholds))
    said = _merge_statement(slot.said, signal, thresholds)
    is_other = said is not None and slot.said is not None and said.since != slot.said.since
    return replace(
        heard,
        cursor=position,
        said=said,
        before=slot.said if is_other and signal.tier == "deterministic" else slot.before,
        look=_update_screen_history(slot, signal, thresholds),
        flags=flags.apply_flag_signal(slot.flags, signal),
        tasks=tasks.apply_subtask_list(slot.tasks, signal, position),
        title=slot.title if signal.title is None else signal.title,
        misses=_count_misses(slot, signal),
        rule=_update_rule(slot, signal),
    )


def _merge_statement(last: SourceStatement | None, signal: Signal, thresholds: Thresholds) -> SourceStatement | None:
    """A signal that says the same again makes the statement newer, not another one."""
    if signal.kind not in ("state", "no_agent"):
        return last
    said = SourceStatement(
        state=signal.state or "unknown",
        reason=signal.reason if signal.kind == "state" else "unknown_screen",
        since=signal.ingested_at,
        at=signal.ingested_at,
        signal=signal.id,
        is_moving=signal.moved_at is not None and signal.ingested_at - signal.moved_at <= thresholds.moved_within,
    )
    if last is None or (last.state, last.reason) != (said.state, said.reason):
        return said
    return replace(said, since=last.since, is_moving=said.is_moving or last.is_moving)


def _update_screen_history(slot: SourceSlot, signal: Signal, thresholds: Thresholds) -> ScreenHistory:
    """What was believed when another statement came is gone by until that one is believed, too."""
    if signal.tier == "deterministic" or signal.kind not in ("state", "no_agent"):
        return slot.look
    moved = [at for at in (slot.look.moved_at, signal.moved_at) if at is not None]
    last = slot.said
    is_same = last is not None and last.state == (signal.state or "unknown")
    return ScreenHistory(
        before=_select_previous_statement(slot, signal, thresholds),
        moved_at=max(moved, default=None),
        interval=signal.look_interval,
        is_confirmed=is_same and last is not None and is_settled(last, slot.look, signal.ingested_at, thresholds),
    )


def _select_previous_statement(slot: SourceSlot, signal: Signal, thresholds: Thresholds) -> SourceStatement | None:
    last = slot.said
    if last is None or last.state == (signal.state or "unknown"):
        return slot.look.before
    return last if is_settled(last, slot.look, signal.ingested_at, thresholds) else slot.look.before


def _update_rule(slot: SourceSlot, signal: Signal) -> str:
    if signal.tier == "deterministic" or signal.kind not in ("state", "no_agent"):
        return slot.rule
    return str(signal.payload.get("rule") or "")


def _count_misses(slot: SourceSlot, signal: Signal) -> int:
    return slot.misses + 1 if signal.kind == "no_agent" else slot.misses * (signal.kind != "state")

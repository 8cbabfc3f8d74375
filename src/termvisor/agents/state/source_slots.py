"""A Ledger keeps what each source last said of one runtime.

Invariant: a signal that is doubled or older than its source's cursor leaves the ledger as it was. Every source has a
slot and a cursor of its own, so none can starve another, and the order in which sources are heard does not matter.
"""

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.state import flags
from termvisor.agents.state import subtasks as tasks
from termvisor.agents.state.flags import Told
from termvisor.agents.state.hysteresis import Look, Statement, is_settled
from termvisor.agents.state.seen_signals import Memory, is_forgotten, remembered
from termvisor.agents.state.signal_order import START, Position, position
from termvisor.agents.state.subtasks import Tasks
from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.signal import Dropped, Signal


class Slot(Struct, frozen=True, kw_only=True):
    """One source. Instants are our own."""

    cursor: Position = START
    memory: Memory = Memory()
    heard_at: int = 0
    is_down: bool = False
    said: Statement | None = None
    before: Statement | None = None
    """What it said before that; of a look, see there."""
    look: Look = Look()
    flags: Told = {}
    tasks: Tasks = Tasks()
    title: str = ""
    misses: int = 0
    """Looks in a row that found no agent."""
    rule: str = ""
    """Of a look: the rule that it showed last."""


class Ledger(Struct, frozen=True, kw_only=True):
    slots: dict[str, Slot] = {}
    missed_at: int = 0
    """Up to when output of the pane is missing."""


NOTHING = Slot()


def hear(ledger: Ledger, signal: Signal, measure: Measure) -> tuple[Ledger, Dropped | None]:
    """The ledger after a signal that was admitted and bound, or the same ledger and why it was dropped."""
    slot = ledger.slots.get(signal.source, NOTHING)
    place = position(signal)
    if signal.dedupe_key in slot.memory.seen:
        return ledger, "duplicate"
    if _is_late(slot, signal, place):
        return ledger, "late_event"
    heard = _noted(slot, signal, place, measure)
    return replace(ledger, slots={**ledger.slots, signal.source: heard}), None


def _is_late(slot: Slot, signal: Signal, place: Position) -> bool:
    if is_forgotten(slot.memory, place):
        return True
    return tasks.is_late(slot.tasks, signal.task, place) if signal.task else place <= slot.cursor


def _noted(slot: Slot, signal: Signal, place: Position, measure: Measure) -> Slot:
    heard = replace(
        slot,
        memory=remembered(slot.memory, signal.dedupe_key, place, measure),
        heard_at=max(slot.heard_at, signal.ingested_at),
        is_down=signal.kind == "source_down",
    )
    if signal.task:
        return replace(heard, tasks=tasks.one(slot.tasks, signal, place, measure))
    said = _said(slot.said, signal, measure)
    is_other = said is not None and slot.said is not None and said.since != slot.said.since
    return replace(
        heard,
        cursor=place,
        said=said,
        before=slot.said if is_other and signal.tier == "deterministic" else slot.before,
        look=_look(slot, signal, measure),
        flags=flags.after(slot.flags, signal),
        tasks=tasks.everything(slot.tasks, signal, place),
        title=slot.title if signal.title is None else signal.title,
        misses=_misses(slot, signal),
        rule=_rule(slot, signal),
    )


def _said(last: Statement | None, signal: Signal, measure: Measure) -> Statement | None:
    """A signal that says the same again makes the statement newer, not another one."""
    if signal.kind not in ("state", "no_agent"):
        return last
    said = Statement(
        state=signal.state or "unknown",
        reason=signal.reason if signal.kind == "state" else "unknown_screen",
        since=signal.ingested_at,
        at=signal.ingested_at,
        signal=signal.id,
        is_moving=signal.moved_at is not None and signal.ingested_at - signal.moved_at <= measure.moved_within,
    )
    if last is None or (last.state, last.reason) != (said.state, said.reason):
        return said
    return replace(said, since=last.since, is_moving=said.is_moving or last.is_moving)


def _look(slot: Slot, signal: Signal, measure: Measure) -> Look:
    """What was believed when another statement came is gone by until that one is believed, too."""
    if signal.tier == "deterministic" or signal.kind not in ("state", "no_agent"):
        return slot.look
    moved = [at for at in (slot.look.moved_at, signal.moved_at) if at is not None]
    last = slot.said
    is_same = last is not None and last.state == (signal.state or "unknown")
    return Look(
        before=_before(slot, signal, measure),
        moved_at=max(moved, default=None),
        interval=signal.look_interval,
        is_confirmed=is_same and last is not None and is_settled(last, slot.look, signal.ingested_at, measure),
    )


def _before(slot: Slot, signal: Signal, measure: Measure) -> Statement | None:
    last = slot.said
    if last is None or last.state == (signal.state or "unknown"):
        return slot.look.before
    return last if is_settled(last, slot.look, signal.ingested_at, measure) else slot.look.before


def _rule(slot: Slot, signal: Signal) -> str:
    if signal.tier == "deterministic" or signal.kind not in ("state", "no_agent"):
        return slot.rule
    return str(signal.payload.get("rule") or "")


def _misses(slot: Slot, signal: Signal) -> int:
    return slot.misses + 1 if signal.kind == "no_agent" else slot.misses * (signal.kind != "state")

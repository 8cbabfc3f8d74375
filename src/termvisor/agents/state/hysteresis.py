"""Hysteresis: how long a look must stay the same before it is believed.

A dialog or an error is believed at once. Work is believed where the pane also moves. Rest is believed only after a
while, because agents fall silent while they work; and a screen that looks like nothing we know ends no work as long as
the pane moves.
"""

from msgspec import Struct

from termvisor.agents.state.thresholds import Measure
from termvisor.model.agent.state import StateName, UnknownReason
from termvisor.model.ids import SignalId

AT_REST: tuple[StateName, ...] = ("idle", "completed")
WAITING: tuple[StateName, ...] = ("waiting_approval", "waiting_input")


class Statement(Struct, frozen=True, kw_only=True):
    """What a source says, since when without a break, and when it last said so (our time)."""

    state: StateName
    reason: UnknownReason | None = None
    since: int
    at: int
    signal: SignalId
    is_moving: bool = False
    """Of a look that saw work: the pane moved at that time."""


class Look(Struct, frozen=True, kw_only=True):
    """What is remembered of the looks of one source."""

    before: Statement | None = None
    """What was last believed before the present statement."""
    moved_at: int | None = None
    interval: int = 0
    is_confirmed: bool = False
    """The present statement was believed before: a person who types at the prompt does not make it doubtful."""


def believed(said: Statement, look: Look, now: int, measure: Measure) -> Statement | None:
    """The statement to go by at this instant: this one, the one before it, or none."""
    return said if is_settled(said, look, now, measure) else look.before


def is_settled(said: Statement, look: Look, now: int, measure: Measure) -> bool:
    if said.state == "running":
        return said.is_moving
    if said.state in AT_REST:
        return look.is_confirmed or _is_resting(said, look, now, measure)
    if said.state == "unknown" and look.before is not None and look.before.state == "running":
        return look.moved_at is None or now - look.moved_at > measure.demoted_after
    return True


def _is_resting(said: Statement, look: Look, now: int, measure: Measure) -> bool:
    """A pane that moves on is at rest only after long: something repaints there, a clock perhaps."""
    wanted = confirmed_after(look, measure)
    held_for = now - said.since
    is_quiet = look.moved_at is None or now - look.moved_at >= wanted
    return held_for >= wanted and (is_quiet or held_for > measure.demoted_after)


def confirmed_after(look: Look, measure: Measure) -> int:
    return max(measure.idle_after, measure.looks_until_idle * look.interval)


def deadlines(said: Statement, look: Look, measure: Measure) -> list[int]:
    """The instants at which time alone may change what is believed."""
    wanted = confirmed_after(look, measure)
    found = [said.since + wanted, said.since + measure.demoted_after + 1]
    if look.moved_at is not None:
        found += [look.moved_at + wanted, look.moved_at + measure.demoted_after + 1]
    return found

"""Hysteresis: how long a look must stay the same before it is believed.

A dialog or an error is believed at once. Work is believed where the pane also moves. Rest is believed only after a
while, because agents fall silent while they work; and a screen that looks like nothing we know ends no work as long as
the pane moves.
"""

from msgspec import Struct

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.state import StateName, UnknownReason
from termvisor.model.ids import SignalId

REST_STATES: tuple[StateName, ...] = ("idle", "completed")
WAITING_STATES: tuple[StateName, ...] = ("waiting_approval", "waiting_input")


class SourceStatement(Struct, frozen=True, kw_only=True):
    """What a source says, since when without a break, and when it last said so (our time)."""

    state: StateName
    reason: UnknownReason | None = None
    since: int
    at: int
    signal: SignalId
    is_moving: bool = False
    """Of a look that saw work: the pane moved at that time."""


class ScreenHistory(Struct, frozen=True, kw_only=True):
    """What is remembered of the looks of one source."""

    before: SourceStatement | None = None
    """What was last believed before the present statement."""
    moved_at: int | None = None
    interval: int = 0
    is_confirmed: bool = False
    """The present statement was believed before: a person who types at the prompt does not make it doubtful."""


def select_statement(
    statement: SourceStatement, history: ScreenHistory, now: int, thresholds: Thresholds
) -> SourceStatement | None:
    """The statement to go by at this instant: this one, the one before it, or none."""
    return statement if is_settled(statement, history, now, thresholds) else history.before


def is_settled(statement: SourceStatement, history: ScreenHistory, now: int, thresholds: Thresholds) -> bool:
    if statement.state == "running":
        return statement.is_moving
    if statement.state in REST_STATES:
        return history.is_confirmed or _is_resting(statement, history, now, thresholds)
    if statement.state == "unknown" and history.before is not None and history.before.state == "running":
        return history.moved_at is None or now - history.moved_at > thresholds.demoted_after
    return True


def _is_resting(statement: SourceStatement, history: ScreenHistory, now: int, thresholds: Thresholds) -> bool:
    """A pane that moves on is at rest only after long: something repaints there, a clock perhaps."""
    wanted = compute_rest_delay(history, thresholds)
    held_for = now - statement.since
    is_quiet = history.moved_at is None or now - history.moved_at >= wanted
    return held_for >= wanted and (is_quiet or held_for > thresholds.demoted_after)


def compute_rest_delay(history: ScreenHistory, thresholds: Thresholds) -> int:
    return max(thresholds.idle_after, thresholds.looks_until_idle * history.interval)


def list_statement_deadlines(statement: SourceStatement, history: ScreenHistory, thresholds: Thresholds) -> list[int]:
    """The instants at which time alone may change what is believed."""
    wanted = compute_rest_delay(history, thresholds)
    found = [statement.since + wanted, statement.since + thresholds.demoted_after + 1]
    if history.moved_at is not None:
        found += [history.moved_at + wanted, history.moved_at + thresholds.demoted_after + 1]
    return found

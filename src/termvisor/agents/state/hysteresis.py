"""Decide when to believe a state shown on the screen (hysteresis).

A dialog or an error is believed at once, work only if the pane also changes. Rest is believed once two screens show it
and the pane is quiet, because agents pause while they work; without work before, after a longer delay. A dialog that
two screens no longer show is over, even if the pane changes. An unknown screen ends work ``demoted_after`` the last
screen that showed it, whether or not the pane still changes: nothing is running merely because no end was seen.
"""

from msgspec import Struct

from termvisor.agents.state.thresholds import Thresholds
from termvisor.model.agent.state import StateName, UnknownReason
from termvisor.model.ids import SignalId

REST_STATES: tuple[StateName, ...] = ("idle", "completed")
WAITING_STATES: tuple[StateName, ...] = ("waiting_approval", "waiting_input")
BUSY_STATES: tuple[StateName, ...] = ("running", *WAITING_STATES)


class SourceStatement(Struct, frozen=True, kw_only=True):
    """A state reported by a source: since when without interruption, and when last (by our clock)."""

    state: StateName
    reason: UnknownReason | None = None
    since: int
    at: int
    signal: SignalId
    is_moving: bool = False
    """For a screen that shows work: whether the pane changed at that time."""


class ScreenHistory(Struct, frozen=True, kw_only=True):
    """The state kept from earlier screens."""

    before: SourceStatement | None = None
    """The last believed statement before the current one."""
    was_busy: bool = False
    """That was work or a dialog, or an unknown screen after it."""
    moved_at: int | None = None
    rested_since: int | None = None
    """Since when all screens showed one of the states of rest, if the last one did."""
    interval: int = 0
    is_confirmed: bool = False
    """The current statement was believed before, so typing at the prompt does not put it in doubt again."""


def is_settled(statement: SourceStatement, history: ScreenHistory, now: int, thresholds: Thresholds) -> bool:
    if statement.state == "running":
        return statement.is_moving
    if statement.state in REST_STATES:
        return history.is_confirmed or _is_resting(statement, history, now, thresholds)
    # Codex streams text without its "Working" line: such a screen is unknown, but the agent still works.
    if statement.state == "unknown" and history.before is not None and history.before.state == "running":
        return now - history.before.at > thresholds.demoted_after
    return True


def _is_resting(statement: SourceStatement, history: ScreenHistory, now: int, thresholds: Thresholds) -> bool:
    """Return True after the rest delay, or ``demoted_after`` if the pane keeps changing (a clock, a status line).

    After a dialog the pane need not be quiet: the dialog is gone, so the agent no longer waits for an answer.
    """
    delay = compute_rest_delay(history, thresholds)
    held_for = now - _get_rest_start(statement, history)
    is_quiet = history.moved_at is None or now - history.moved_at >= delay
    has_answered = history.before is not None and history.before.state in WAITING_STATES
    return held_for >= delay and (is_quiet or has_answered or held_for > thresholds.demoted_after)


def _get_rest_start(statement: SourceStatement, history: ScreenHistory) -> int:
    """Return when the rest began. A screen that says more about its end, in a second row, does not begin another."""
    return statement.since if history.rested_since is None else history.rested_since


def compute_rest_delay(history: ScreenHistory, thresholds: Thresholds) -> int:
    """Return how long rest must be shown. Between two screens there is one interval."""
    shortest = thresholds.ended_after if history.was_busy else thresholds.idle_after
    return max(shortest, (thresholds.looks_until_idle - 1) * history.interval)


def list_statement_deadlines(statement: SourceStatement, history: ScreenHistory, thresholds: Thresholds) -> list[int]:
    """List the instants at which time alone may change which statement is believed."""
    delay = compute_rest_delay(history, thresholds)
    started = _get_rest_start(statement, history)
    deadlines = [started + delay, started + thresholds.demoted_after + 1]
    if history.moved_at is not None:
        deadlines.append(history.moved_at + delay)
    if history.before is not None:
        deadlines.append(history.before.at + thresholds.demoted_after + 1)
    return deadlines

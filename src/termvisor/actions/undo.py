"""Undo an action: find it in the audit log, check that its effect is unchanged, and verify the result.

Invariant: only an unchanged effect of our own action is undone; anything that replaced it is left alone.
"""

from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.attempt import Attempt
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.preconditions import PreconditionFailure, find_failed_precondition
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import Clock
from termvisor.errors import BadRequest, MuxError, NotUndoable, StaleSnapshot
from termvisor.model.action.action import Actor
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.outcome import Outcome
from termvisor.store.tables.audit import AuditTable

LAST_ACTION = "last"
CLEAR_TIMEOUT_S = 2.0
POLL_INTERVAL_S = 0.05
_MAX_SEARCHED_OUTCOMES = 200
"""How many of the newest audit entries are searched for the caller's last action."""
_DONE_OUTCOMES = ("done", "delivered", "typed_not_submitted")
_IGNORED_KINDS = ("attach", "notify")
"""Kinds without an effect on panes; they never count as the last action."""


async def find_undoable_action(audit: AuditTable, which: str, actor: Actor) -> AuditEntry:
    """Return the outcome entry of the action with this correlation, or of the caller's last one.

    Raises ``BadRequest``, ``NotUndoable``, or ``StaleSnapshot`` if it was already undone.
    """
    is_last = which == LAST_ACTION
    entry = await _find_last_by_actor(audit, actor) if is_last else await _find_by_correlation(audit, which)
    if await is_undone(audit, entry.correlation):
        details = {"why": "already_undone", "correlation": entry.correlation}
        raise StaleSnapshot("nothing was done: it was already undone", details=details)
    return entry


async def is_undone(audit: AuditTable, correlation: str) -> bool:
    return bool(await audit.list(filters=AuditFilter(undoes=correlation, outcome="done"), limit=1))


async def _find_by_correlation(audit: AuditTable, correlation: str) -> AuditEntry:
    entries = await audit.list(filters=AuditFilter(correlation=correlation))
    if not entries:
        hint = "`visor audit` shows the `correlation` of each action."
        raise BadRequest(f"action {correlation!r} not found in the audit log", hint=hint)
    outcomes = [entry for entry in entries if entry.stage == "outcome" and entry.kind not in _IGNORED_KINDS]
    done = next((entry for entry in reversed(outcomes) if entry.outcome in _DONE_OUTCOMES), None)
    if done is None:
        outcome = outcomes[-1].outcome if outcomes else "no outcome yet"
        raise NotUndoable(f"{entries[0].kind} {correlation} was not executed: {outcome}")
    return done


async def _find_last_by_actor(audit: AuditTable, actor: Actor) -> AuditEntry:
    entries = await audit.list(filters=AuditFilter(actor=actor.kind), limit=_MAX_SEARCHED_OUTCOMES)
    for entry in reversed(entries):
        is_same_actor = (entry.actor.kind, entry.actor.uid, entry.actor.name) == (actor.kind, actor.uid, actor.name)
        is_done = entry.stage == "outcome" and entry.outcome in _DONE_OUTCOMES and entry.kind not in _IGNORED_KINDS
        if is_same_actor and is_done and not entry.undoes and not await is_undone(audit, entry.correlation):
            return entry
    raise NotUndoable("no recent action of yours can be undone", hint="`visor audit` shows the actions of others.")


def find_any_failure(snapshot: PaneSnapshot, attempt: Attempt, now: int) -> PreconditionFailure | None:
    """Return the first failed precondition of any action, or of the undo if this is one."""
    return find_failed_precondition(snapshot, attempt, now) or _find_undo_conflict(snapshot)


async def verify_input_cleared(control: PaneControl, snapshot: PaneSnapshot, clock: Clock) -> Outcome:
    """Wait until the shell's input is empty; the outcome is `unknown` after ``CLEAR_TIMEOUT_S``."""
    done = Outcome(status="done", why="input_cleared", pane=snapshot.view.id)
    until = clock.monotonic() + CLEAR_TIMEOUT_S
    while clock.monotonic() < until:
        try:
            pane_state = await control.read_pane_state(snapshot.pane_state.pane)
        except MuxError as error:
            return replace(done, status="unknown", why="no_answer", text=str(error))
        column = snapshot.input_place.column

        typed = None if pane_state is None or column is None else input_line.read_prompt_input(pane_state, column)
        if typed is not None and not input_line.strip_decoration(typed.before + typed.behind):
            return done
        await clock.sleep(POLL_INTERVAL_S)
    return replace(done, status="unknown", why="not_cleared", text="the input was not seen empty")


def _find_undo_conflict(snapshot: PaneSnapshot) -> PreconditionFailure | None:
    target, pane_state = snapshot.undo_target, snapshot.pane_state
    if target is None:
        return None
    if target.title is not None and pane_state.title != target.title:
        return PreconditionFailure(why="title_changed", text="the title was changed again since")
    if target.front is not None and pane_state.front != target.front:
        return PreconditionFailure(why="front_changed", text="another pane of the session is active now")
    if target.is_alone and snapshot.child_count != 0:
        return PreconditionFailure(why="other_programs", text="other programs run in the spawned shell")
    return _find_typed_conflict(snapshot) if target.is_typed else None


def _find_typed_conflict(snapshot: PaneSnapshot) -> PreconditionFailure | None:
    activity, typed = snapshot.view.activity, snapshot.typed_input
    if snapshot.pane_state.alternate or (activity.kind, activity.is_proven) != ("prompt", True):
        return PreconditionFailure(why="not_at_prompt", text="the pane is not proven to be at a shell prompt")
    if typed is None or not snapshot.holds_own_text or input_line.strip_decoration(typed.behind):
        return PreconditionFailure(why="input_changed", text="the input no longer holds exactly the typed text")
    return None

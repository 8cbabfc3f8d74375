"""Taking an action back: which one is meant, whether all is still as it left it, and whether it worked.

Only what is known to be ours is taken back. Whatever stands in its place by now belongs to somebody else.
"""

from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.preconditions import PaneSnapshot, PreconditionFailure, RequestedAction, find_failed_precondition
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
"""How many of the newest outcomes are looked through for a caller's last action."""
_DONE_OUTCOMES = ("done", "delivered", "typed_not_submitted")
_IGNORED_KINDS = ("attach", "notify")
"""Kinds that change nothing here: no story's deed, and nobody's last action."""


async def find_undoable_action(audit: AuditTable, which: str, actor: Actor) -> AuditEntry:
    """The outcome that is to be taken back: of the named action, or the caller's own last one."""
    found = (
        await _find_last_by_actor(audit, actor) if which == LAST_ACTION else await _find_by_correlation(audit, which)
    )
    if await is_undone(audit, found.correlation):
        details = {"why": "already_undone", "correlation": found.correlation}
        raise StaleSnapshot("nothing was done: it was undone already", details=details)
    return found


async def is_undone(audit: AuditTable, correlation: str) -> bool:
    return bool(await audit.list(filters=AuditFilter(undoes=correlation, outcome="done"), limit=1))


async def _find_by_correlation(audit: AuditTable, correlation: str) -> AuditEntry:
    story = await audit.list(filters=AuditFilter(correlation=correlation))
    if not story:
        raise BadRequest(f"no action {correlation!r} is on record", hint="`visor audit` shows each with `correlation`.")
    outcomes = [entry for entry in story if entry.stage == "outcome" and entry.kind not in _IGNORED_KINDS]
    done = next((entry for entry in reversed(outcomes) if entry.outcome in _DONE_OUTCOMES), None)
    if done is None:
        came = outcomes[-1].outcome if outcomes else "nothing yet"
        raise NotUndoable(f"{story[0].kind} {correlation} is not known to be done: {came}")
    return done


async def _find_last_by_actor(audit: AuditTable, actor: Actor) -> AuditEntry:
    entries = await audit.list(filters=AuditFilter(actor=actor.kind), limit=_MAX_SEARCHED_OUTCOMES)
    for entry in reversed(entries):
        is_theirs = (entry.actor.kind, entry.actor.uid, entry.actor.name) == (actor.kind, actor.uid, actor.name)
        is_deed = entry.stage == "outcome" and entry.outcome in _DONE_OUTCOMES and entry.kind not in _IGNORED_KINDS
        if is_theirs and is_deed and not entry.undoes and not await is_undone(audit, entry.correlation):
            return entry
    raise NotUndoable("you did nothing lately that could be undone", hint="`visor audit` shows what others did.")


def find_any_failure(snapshot: PaneSnapshot, request: RequestedAction, now: int) -> PreconditionFailure | None:
    """The first reason not to act: one that holds for every action, or that something is no longer as it was left."""
    return find_failed_precondition(snapshot, request, now) or _find_undo_conflict(snapshot)


async def verify_input_cleared(control: PaneControl, snapshot: PaneSnapshot, clock: Clock) -> Outcome:
    """Whether the input of the shell is seen to be empty, once the keys were pressed."""
    done = Outcome(status="done", why="input_cleared", pane=snapshot.view.id)
    until = clock.monotonic() + CLEAR_TIMEOUT_S
    while clock.monotonic() < until:
        try:
            sight = await control.read_pane_state(snapshot.pane_state.pane)
        except MuxError as error:
            return replace(done, status="unknown", why="no_answer", text=str(error))
        typed = (
            None
            if sight is None or snapshot.input_place.column is None
            else input_line.read_prompt_input(sight, snapshot.input_place.column)
        )
        if typed is not None and not input_line.strip_decoration(typed.before + typed.behind):
            return done
        await clock.sleep(POLL_INTERVAL_S)
    return replace(done, status="unknown", why="not_cleared", text="the input is not seen to be empty")


def _find_undo_conflict(snapshot: PaneSnapshot) -> PreconditionFailure | None:
    left, sight = snapshot.undo_target, snapshot.pane_state
    if left is None:
        return None
    if left.title is not None and sight.title != left.title:
        return PreconditionFailure(why="title_changed", text="the title is no longer the one that was set")
    if left.front is not None and sight.front != left.front:
        return PreconditionFailure(why="front_changed", text="people see another pane of that session by now")
    if left.is_alone and snapshot.child_count != 0:
        return PreconditionFailure(why="other_programs", text="other programs run there than the one that was started")
    return _find_typed_conflict(snapshot) if left.is_typed else None


def _find_typed_conflict(snapshot: PaneSnapshot) -> PreconditionFailure | None:
    activity, typed = snapshot.view.activity, snapshot.typed_input
    if snapshot.pane_state.alternate or (activity.kind, activity.is_proven) != ("prompt", True):
        return PreconditionFailure(why="not_at_prompt", text="no shell is proven to be at its prompt there")
    if typed is None or not snapshot.holds_own_text or input_line.strip_decoration(typed.behind):
        return PreconditionFailure(why="input_changed", text="the input no longer holds just the text that was typed")
    return None

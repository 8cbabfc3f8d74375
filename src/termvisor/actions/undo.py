"""Taking an action back: which one is meant, whether all is still as it left it, and whether it worked.

Only what is known to be ours is taken back. Whatever stands in its place by now belongs to somebody else.
"""

from msgspec.structs import replace

from termvisor.actions import input_line as screen
from termvisor.actions.preconditions import Belief, Refusal, Wish, refusal
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import Clock
from termvisor.errors import BadRequest, MuxError, NoInverse, StaleSnapshot
from termvisor.model.action.action import Actor
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.outcome import Outcome
from termvisor.store.tables.audit import Audit

LAST = "last"
CLEARED_WITHIN = 2.0
LOOK_FOR = 0.05
_FAR = 200
"""How many of the newest outcomes are looked through for a caller's last action."""
_DONE = ("done", "delivered", "typed_not_submitted")
_PASSING = ("attach", "notify")
"""Kinds that change nothing here: no story's deed, and nobody's last action."""


async def deed(audit: Audit, which: str, actor: Actor) -> AuditEntry:
    """The outcome that is to be taken back: of the named action, or the caller's own last one."""
    found = await _last(audit, actor) if which == LAST else await _named(audit, which)
    if await is_undone(audit, found.correlation):
        details = {"why": "already_undone", "correlation": found.correlation}
        raise StaleSnapshot("nothing was done: it was undone already", details=details)
    return found


async def is_undone(audit: Audit, correlation: str) -> bool:
    return bool(await audit.list(only=AuditFilter(undoes=correlation, outcome="done"), limit=1))


async def _named(audit: Audit, correlation: str) -> AuditEntry:
    story = await audit.list(only=AuditFilter(correlation=correlation))
    if not story:
        raise BadRequest(f"no action {correlation!r} is on record", hint="`visor audit` shows each with `correlation`.")
    outcomes = [entry for entry in story if entry.stage == "outcome" and entry.kind not in _PASSING]
    done = next((entry for entry in reversed(outcomes) if entry.outcome in _DONE), None)
    if done is None:
        came = outcomes[-1].outcome if outcomes else "nothing yet"
        raise NoInverse(f"{story[0].kind} {correlation} is not known to be done: {came}")
    return done


async def _last(audit: Audit, actor: Actor) -> AuditEntry:
    entries = await audit.list(only=AuditFilter(actor=actor.kind), limit=_FAR)
    for entry in reversed(entries):
        is_theirs = (entry.actor.kind, entry.actor.uid, entry.actor.name) == (actor.kind, actor.uid, actor.name)
        is_deed = entry.stage == "outcome" and entry.outcome in _DONE and entry.kind not in _PASSING
        if is_theirs and is_deed and not entry.undoes and not await is_undone(audit, entry.correlation):
            return entry
    raise NoInverse("you did nothing lately that could be undone", hint="`visor audit` shows what others did.")


def against(belief: Belief, wish: Wish, now: int) -> Refusal | None:
    """The first reason not to act: one that holds for every action, or that something is no longer as it was left."""
    return refusal(belief, wish, now) or _changed(belief)


async def cleared(control: PaneControl, belief: Belief, clock: Clock) -> Outcome:
    """Whether the input of the shell is seen to be empty, once the keys were pressed."""
    done = Outcome(status="done", why="input_cleared", pane=belief.view.id)
    until = clock.monotonic() + CLEARED_WITHIN
    while clock.monotonic() < until:
        try:
            sight = await control.see(belief.sight.pane)
        except MuxError as error:
            return replace(done, status="unknown", why="no_answer", text=str(error))
        typed = None if sight is None or belief.place.column is None else screen.at_prompt(sight, belief.place.column)
        if typed is not None and not screen.squeeze(typed.before + typed.behind):
            return done
        await clock.sleep(LOOK_FOR)
    return replace(done, status="unknown", why="not_cleared", text="the input is not seen to be empty")


def _changed(belief: Belief) -> Refusal | None:
    left, sight = belief.left, belief.sight
    if left is None:
        return None
    if left.title is not None and sight.title != left.title:
        return Refusal(why="title_changed", text="the title is no longer the one that was set")
    if left.front is not None and sight.front != left.front:
        return Refusal(why="front_changed", text="people see another pane of that session by now")
    if left.is_alone and belief.children != 0:
        return Refusal(why="other_programs", text="other programs run there than the one that was started")
    return _typed_on(belief) if left.is_typed else None


def _typed_on(belief: Belief) -> Refusal | None:
    activity, typed = belief.view.activity, belief.typed
    if belief.sight.alternate or (activity.kind, activity.is_proven) != ("prompt", True):
        return Refusal(why="not_at_prompt", text="no shell is proven to be at its prompt there")
    if typed is None or not belief.is_own_text or screen.squeeze(typed.behind):
        return Refusal(why="input_changed", text="the input no longer holds just the text that was typed")
    return None

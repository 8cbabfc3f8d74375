"""Undo an action: find it in the audit log, build its inverse from the logged former values, and verify the result.

Invariant: an effect is undone only while it is unchanged; anything that replaced it is left alone.
"""

import re
from collections.abc import Callable, Sequence
from posixpath import basename

from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.pane_snapshot import PaneSnapshot
from termvisor.actions.precondition_failure import build_stale_error
from termvisor.backends.pane_control import PaneControl
from termvisor.clock import NS, Clock
from termvisor.errors import BadRequest, MuxError, NotUndoable, StaleSnapshot
from termvisor.model.action.action import CLEAR_INPUT_KEYS, Action, Activate, Actor, Kill, Release, SendKeys, SetTitle
from termvisor.model.action.audit import AuditEntry, AuditFilter
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import UndoAction, UndoPrecondition
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.policy.shell.programs.interpreter import SHELLS
from termvisor.store.tables.audit import AuditTable

LAST_ACTION = "last"
# A correlation has 16 hexadecimal digits, so a shorter number is the id of an audit entry.
_ENTRY_ID = re.compile(r"[0-9]{1,15}")
CLEAR_TIMEOUT_S = 2.0
POLL_INTERVAL_S = 0.05
# Number of recent audit entries to search for the caller's last action.
_MAX_SEARCHED_OUTCOMES = 200
_DONE_OUTCOMES = ("done", "delivered", "queued", "typed_not_submitted")
# Kinds of actions that have no effect on panes and never count as the last action.
_IGNORED_KINDS = ("attach", "notify")
# A new pane may be discovered shortly before its audit entry is written.
_FIRST_SEEN_MARGIN_NS = 10 * NS
_NO_INVERSE_TEXTS: dict[str, str] = {
    "delivered": "the program has read the text",
    "answer_agent": "the agent has read the answer",
    "kill": "a process that has exited cannot be restored",
    "send_keys": "only the program knows what the keys did",
}
UndoStep = tuple[Action, UndoPrecondition]


async def find_undoable_action(audit: AuditTable, which: str, actor: Actor) -> AuditEntry:
    """Return the outcome entry of the action with this correlation or audit id, or of the caller's last.

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


async def _find_by_correlation(audit: AuditTable, which: str) -> AuditEntry:
    correlation = await _find_correlation(audit, int(which)) if _ENTRY_ID.fullmatch(which) else which
    entries = await audit.list(filters=AuditFilter(correlation=correlation)) if correlation else []
    if not entries:
        hint = "`visor audit` shows the ID and the `correlation` of each action."
        raise BadRequest(f"action {which!r} not found in the audit log", hint=hint)
    outcomes = [entry for entry in entries if entry.stage == "outcome" and entry.kind not in _IGNORED_KINDS]
    done = next((entry for entry in reversed(outcomes) if entry.outcome in _DONE_OUTCOMES), None)
    if done is None:
        outcome = outcomes[-1].outcome if outcomes else "no outcome yet"
        raise NotUndoable(f"{entries[0].kind} {correlation} was not executed: {outcome}")
    return done


async def _find_correlation(audit: AuditTable, entry_id: int) -> str:
    """Return the correlation of the entry with this id; empty if there is none."""
    entries = await audit.list(after=entry_id - 1, limit=1)
    return next((entry.correlation for entry in entries if entry.id == entry_id), "")


async def _find_last_by_actor(audit: AuditTable, actor: Actor) -> AuditEntry:
    entries = await audit.list(filters=AuditFilter(actor=actor.kind), limit=_MAX_SEARCHED_OUTCOMES)
    for entry in reversed(entries):
        is_same_actor = (entry.actor.kind, entry.actor.uid, entry.actor.name) == (actor.kind, actor.uid, actor.name)
        is_done = entry.stage == "outcome" and entry.outcome in _DONE_OUTCOMES and entry.kind not in _IGNORED_KINDS
        if is_same_actor and is_done and not entry.undoes and not await is_undone(audit, entry.correlation):
            return entry
    raise NotUndoable("no recent action of yours can be undone", hint="`visor audit` shows the actions of others.")


async def verify_input_cleared(control: PaneControl, snapshot: PaneSnapshot, clock: Clock) -> Outcome:
    """Wait until the shell's input is empty. The outcome is `unknown` after ``CLEAR_TIMEOUT_S``."""
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


def build_inverse(done: AuditEntry, panes: Sequence[PaneView]) -> UndoAction:
    """Return the inverse action. Raises ``NotUndoable`` if there is none, ``StaleSnapshot`` if its pane is gone."""
    build = _INVERSE_BUILDERS.get(done.kind)
    if build is None:
        raise _build_no_inverse_error(done, _NO_INVERSE_TEXTS.get(done.kind, ""))
    action, undoes = build(done, panes)
    return UndoAction(action=action, undoes=undoes)


def _undo_title(done: AuditEntry, panes: Sequence[PaneView]) -> UndoStep:
    before, now = done.observed.get("former_title"), done.observed.get("title")
    if not isinstance(before, str) or not isinstance(now, str):
        raise _build_no_inverse_error(done, "the former title is not in the audit log")
    return SetTitle(pane=_get_pane(done, panes).id, title=before), UndoPrecondition(
        correlation=done.correlation, title=now
    )


def _undo_activate(done: AuditEntry, panes: Sequence[PaneView]) -> UndoStep:
    pane = _get_pane(done, panes)
    front = done.observed.get("former_front")
    former = [view for view in panes if view.instance.mux_id == front and view.instance.server == pane.instance.server]
    if not former:
        raise _build_no_inverse_error(done, "the former active pane is not in the audit log")
    if former[0].id == pane.id:
        raise _build_no_inverse_error(done, "the pane was already active")
    undoes = UndoPrecondition(correlation=done.correlation, front=MuxPaneId(pane.instance.mux_id))
    return Activate(pane=_require_live(former[0]).id), undoes


def _undo_spawn(done: AuditEntry, panes: Sequence[PaneView]) -> UndoStep:
    """Build the action that closes the spawned pane; a shell is closed only while it runs no other program."""
    spawned = (done.observed.get("mux_pane"), done.observed.get("pid"))
    # tmux reuses pane ids after a restart: an older pane with the same id and pid is not the spawned one.
    found = [
        view
        for view in panes
        if (view.instance.mux_id, view.facts.pid) == spawned and view.first_seen_at >= done.at - _FIRST_SEEN_MARGIN_NS
    ]
    if len(found) != 1:
        raise build_stale_error("pane_gone", "the spawned pane no longer exists, or another program runs in it")
    command = done.action.get("command")
    is_shell = not isinstance(command, list) or not command or basename(str(command[0])) in SHELLS
    undoes = UndoPrecondition(correlation=done.correlation, is_alone=is_shell)
    return Kill(pane=_require_live(found[0]).id, closes_pane=True), undoes


def _undo_reserve(done: AuditEntry, _panes: Sequence[PaneView]) -> UndoStep:
    number = done.observed.get("reservation")
    if not isinstance(number, int) or done.observed.get("is_longer"):
        raise _build_no_inverse_error(done, f"it extended a reservation; `visor release {number}` ends it")
    return Release(pane=done.pane or PaneId(0), reservation=number), UndoPrecondition(correlation=done.correlation)


def _undo_typed_text(done: AuditEntry, panes: Sequence[PaneView]) -> UndoStep:
    if done.outcome != "typed_not_submitted":
        raise _build_no_inverse_error(done, _NO_INVERSE_TEXTS["delivered"])
    undoes = UndoPrecondition(correlation=done.correlation, is_typed=True)
    return SendKeys(pane=_get_pane(done, panes).id, keys=CLEAR_INPUT_KEYS), undoes


_INVERSE_BUILDERS: dict[str, Callable[[AuditEntry, Sequence[PaneView]], UndoStep]] = {
    "set_title": _undo_title,
    "activate": _undo_activate,
    "spawn": _undo_spawn,
    "reserve": _undo_reserve,
    "send_text": _undo_typed_text,
}


def _get_pane(done: AuditEntry, panes: Sequence[PaneView]) -> PaneView:
    found = next((view for view in panes if view.id == done.pane), None)
    if found is None:
        raise build_stale_error("pane_gone", f"pane {done.pane} no longer exists")
    return _require_live(found)


def _require_live(view: PaneView) -> PaneView:
    if view.gone_at is not None:
        raise build_stale_error("pane_gone", f"pane {view.id} no longer exists")
    return view


def _build_no_inverse_error(done: AuditEntry, why: str) -> NotUndoable:
    text = f"{done.kind} {done.correlation} cannot be undone" + (f": {why}" if why else "")
    return NotUndoable(text, details={"kind": done.kind, "correlation": done.correlation})

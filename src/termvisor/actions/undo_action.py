"""Build the inverse of an action from its audit entry. Pure.

The former values were stored when the action was executed; nothing is guessed later.
"""

from collections.abc import Callable, Sequence
from posixpath import basename

from termvisor.actions.preconditions import build_stale_error
from termvisor.clock import NS
from termvisor.errors import NotUndoable
from termvisor.model.action.action import CLEAR_INPUT_KEYS, Action, Activate, Kill, Release, SendKeys, SetTitle
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.undo import UndoAction, UndoPrecondition
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.policy.shell.programs.interpreter import SHELLS

_FIRST_SEEN_MARGIN_NS = 10 * NS
"""A new pane may be seen a little before its audit entry is written."""
_NO_INVERSE_TEXTS: dict[str, str] = {
    "delivered": "the program has read the text",
    "answer_agent": "the agent has read the answer",
    "kill": "a process that has exited cannot be restored",
    "send_keys": "only the program knows what the keys did",
}


def build_inverse(done: AuditEntry, panes: Sequence[PaneView]) -> UndoAction:
    """Return the inverse action. Raises ``NotUndoable`` if there is none, ``StaleSnapshot`` if its pane is gone."""
    build = _INVERSE_BUILDERS.get(done.kind)
    if build is None:
        raise _build_no_inverse_error(done, _NO_INVERSE_TEXTS.get(done.kind, ""))
    action, undoes = build(done, panes)
    return UndoAction(action=action, undoes=undoes)


UndoStep = tuple[Action, UndoPrecondition]


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
    """Close the spawned pane; a shell only while no other program runs in it."""
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

"""The action that takes another one back, by what is on record of it. Pure.

What an action took the place of was put on record when it was done; nothing is guessed later.
"""

from collections.abc import Callable, Sequence
from posixpath import basename

from termvisor.clock import NS
from termvisor.errors import NotUndoable, StaleSnapshot
from termvisor.model.action.action import CLEAR_INPUT_KEYS, Action, Activate, Kill, Release, SendKeys, SetTitle
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.undo import UndoAction, UndoPrecondition
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.policy.shell.programs.interpreter import SHELLS

_FIRST_SEEN_MARGIN_NS = 10 * NS
"""A pane may be seen a little before it is on record that it was made."""
_NO_INVERSE_TEXTS: dict[str, str] = {
    "delivered": "the program there has taken the text",
    "answer_agent": "the agent has taken the answer",
    "kill": "what has ended does not come back",
    "send_keys": "what keys did is known to the program alone",
}


def build_inverse(done: AuditEntry, panes: Sequence[PaneView]) -> UndoAction:
    """The action that takes it back. Raises ``NoInverse``, or ``StaleSnapshot`` where its pane is no longer there."""
    make = _INVERSE_BUILDERS.get(done.kind)
    if make is None:
        raise _build_no_inverse_error(done, _NO_INVERSE_TEXTS.get(done.kind, ""))
    action, undoes = make(done, panes)
    return UndoAction(action=action, undoes=undoes)


UndoStep = tuple[Action, UndoPrecondition]


def _undo_title(done: AuditEntry, panes: Sequence[PaneView]) -> UndoStep:
    before, now = done.observed.get("former_title"), done.observed.get("title")
    if not isinstance(before, str) or not isinstance(now, str):
        raise _build_no_inverse_error(done, "the former title is not on record")
    return SetTitle(pane=_get_pane(done, panes).id, title=before), UndoPrecondition(
        correlation=done.correlation, title=now
    )


def _undo_activate(done: AuditEntry, panes: Sequence[PaneView]) -> UndoStep:
    pane = _get_pane(done, panes)
    front = done.observed.get("former_front")
    former = [view for view in panes if view.instance.mux_id == front and view.instance.server == pane.instance.server]
    if not former:
        raise _build_no_inverse_error(done, "which pane was in front is not on record")
    if former[0].id == pane.id:
        raise _build_no_inverse_error(done, "the pane was in front already")
    undoes = UndoPrecondition(correlation=done.correlation, front=MuxPaneId(pane.instance.mux_id))
    return Activate(pane=_require_live(former[0]).id), undoes


def _undo_spawn(done: AuditEntry, panes: Sequence[PaneView]) -> UndoStep:
    """A shell is closed only while nothing runs in it; what another program started is its own."""
    made = (done.observed.get("mux_pane"), done.observed.get("pid"))
    fits = [view for view in panes if (view.instance.mux_id, view.facts.pid) == made]
    found = [view for view in fits if view.first_seen_at >= done.at - _FIRST_SEEN_MARGIN_NS]
    if len(found) != 1:
        raise _build_stale_error("pane_gone", "the pane that was made is no longer there, or another program is in it")
    command = done.action.get("command")
    is_shell = not isinstance(command, list) or not command or basename(str(command[0])) in SHELLS
    undoes = UndoPrecondition(correlation=done.correlation, is_alone=is_shell)
    return Kill(pane=_require_live(found[0]).id, closes_pane=True), undoes


def _undo_reserve(done: AuditEntry, _panes: Sequence[PaneView]) -> UndoStep:
    number = done.observed.get("reservation")
    if not isinstance(number, int) or done.observed.get("is_longer"):
        raise _build_no_inverse_error(done, f"it made a reservation longer; `visor release {number}` ends it")
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
        raise _build_stale_error("pane_gone", f"pane {done.pane} is no longer known")
    return _require_live(found)


def _require_live(view: PaneView) -> PaneView:
    if view.gone_at is not None:
        raise _build_stale_error("pane_gone", f"pane {view.id} no longer exists")
    return view


def _build_stale_error(why: str, text: str) -> StaleSnapshot:
    return StaleSnapshot(f"nothing was done: {text}", details={"outcome": "refused", "why": why})


def _build_no_inverse_error(done: AuditEntry, why: str) -> NotUndoable:
    told = f"{done.kind} {done.correlation} has no inverse"
    return NotUndoable(f"{told}: {why}" if why else told, details={"kind": done.kind, "correlation": done.correlation})

"""The action that takes another one back, by what is on record of it. Pure.

What an action took the place of was put on record when it was done; nothing is guessed later.
"""

from collections.abc import Callable, Sequence
from posixpath import basename

from termvisor.clock import NS
from termvisor.errors import NoInverse, StaleSnapshot
from termvisor.model.action.action import CLEARS_INPUT, Action, Activate, Kill, Release, SendKeys, SetTitle
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.undo import Inverse, Undoes
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.policy.shell.programs.runner import SHELLS

_SEEN_BEFORE = 10 * NS
"""A pane may be seen a little before it is on record that it was made."""
_TEXTS: dict[str, str] = {
    "delivered": "the program there has taken the text",
    "answer_agent": "the agent has taken the answer",
    "kill": "what has ended does not come back",
    "send_keys": "what keys did is known to the program alone",
}


def inverse(done: AuditEntry, panes: Sequence[PaneView]) -> Inverse:
    """The action that takes it back. Raises ``NoInverse``, or ``StaleSnapshot`` where its pane is no longer there."""
    make = _INVERSES.get(done.kind)
    if make is None:
        raise _none(done, _TEXTS.get(done.kind, ""))
    action, undoes = make(done, panes)
    return Inverse(action=action, undoes=undoes)


Made = tuple[Action, Undoes]


def _title(done: AuditEntry, panes: Sequence[PaneView]) -> Made:
    before, now = done.observed.get("former_title"), done.observed.get("title")
    if not isinstance(before, str) or not isinstance(now, str):
        raise _none(done, "the former title is not on record")
    return SetTitle(pane=_pane(done, panes).id, title=before), Undoes(correlation=done.correlation, title=now)


def _activate(done: AuditEntry, panes: Sequence[PaneView]) -> Made:
    pane = _pane(done, panes)
    front = done.observed.get("former_front")
    former = [view for view in panes if view.instance.mux_id == front and view.instance.server == pane.instance.server]
    if not former:
        raise _none(done, "which pane was in front is not on record")
    if former[0].id == pane.id:
        raise _none(done, "the pane was in front already")
    undoes = Undoes(correlation=done.correlation, front=MuxPaneId(pane.instance.mux_id))
    return Activate(pane=_living(former[0]).id), undoes


def _spawn(done: AuditEntry, panes: Sequence[PaneView]) -> Made:
    """A shell is closed only while nothing runs in it; what another program started is its own."""
    made = (done.observed.get("mux_pane"), done.observed.get("pid"))
    fits = [view for view in panes if (view.instance.mux_id, view.facts.pid) == made]
    found = [view for view in fits if view.first_seen_at >= done.at - _SEEN_BEFORE]
    if len(found) != 1:
        raise _stale("pane_gone", "the pane that was made is no longer there, or another program is in it")
    command = done.action.get("command")
    is_shell = not isinstance(command, list) or not command or basename(str(command[0])) in SHELLS
    undoes = Undoes(correlation=done.correlation, is_alone=is_shell)
    return Kill(pane=_living(found[0]).id, closes_pane=True), undoes


def _reserve(done: AuditEntry, _panes: Sequence[PaneView]) -> Made:
    number = done.observed.get("reservation")
    if not isinstance(number, int) or done.observed.get("is_longer"):
        raise _none(done, f"it made a reservation longer; `visor release {number}` ends it")
    return Release(pane=done.pane or PaneId(0), reservation=number), Undoes(correlation=done.correlation)


def _typed(done: AuditEntry, panes: Sequence[PaneView]) -> Made:
    if done.outcome != "typed_not_submitted":
        raise _none(done, _TEXTS["delivered"])
    undoes = Undoes(correlation=done.correlation, is_typed=True)
    return SendKeys(pane=_pane(done, panes).id, keys=CLEARS_INPUT), undoes


_INVERSES: dict[str, Callable[[AuditEntry, Sequence[PaneView]], Made]] = {
    "set_title": _title,
    "activate": _activate,
    "spawn": _spawn,
    "reserve": _reserve,
    "send_text": _typed,
}


def _pane(done: AuditEntry, panes: Sequence[PaneView]) -> PaneView:
    found = next((view for view in panes if view.id == done.pane), None)
    if found is None:
        raise _stale("pane_gone", f"pane {done.pane} is no longer known")
    return _living(found)


def _living(view: PaneView) -> PaneView:
    if view.gone_at is not None:
        raise _stale("pane_gone", f"pane {view.id} no longer exists")
    return view


def _stale(why: str, text: str) -> StaleSnapshot:
    return StaleSnapshot(f"nothing was done: {text}", details={"outcome": "refused", "why": why})


def _none(done: AuditEntry, why: str) -> NoInverse:
    told = f"{done.kind} {done.correlation} has no inverse"
    return NoInverse(f"{told}: {why}" if why else told, details={"kind": done.kind, "correlation": done.correlation})

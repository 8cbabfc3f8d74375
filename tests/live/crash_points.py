"""The moments of an act of a run, from the verdict to what is told of it: in each of them a daemon may die."""

from contextvars import ContextVar
from typing import NamedTuple


class CrashPoint(NamedTuple):
    """A call of the daemon's own; with ``stage`` only where it records that."""

    module: str
    owner: str
    name: str
    when: str
    stage: str = ""


class ActingRun(NamedTuple):
    """Which run acts here, in which pane and at which step."""

    pane: int | None
    run: int
    step: int


CURRENT_ACTION: ContextVar[ActingRun | None] = ContextVar("acting", default=None)
CRASH_POINTS = {
    "judged": (CrashPoint("termvisor.actions.gate", "Gate", "_admit", "after"),),
    "recorded": (
        CrashPoint("termvisor.store.tables.deliveries", "DeliveryTable", "begin", "after"),
        CrashPoint("termvisor.store.tables.audit", "AuditTable", "add", "after", "intent"),
    ),
    "written": (
        CrashPoint("termvisor.backends.tmux.pane_control", "TmuxPaneControl", "write", "after"),
        CrashPoint("termvisor.backends.tmux.pane_control", "TmuxPaneControl", "open_pane", "after"),
    ),
    "pressed": (CrashPoint("termvisor.backends.tmux.pane_control", "TmuxPaneControl", "press", "after"),),
    "verified": (
        CrashPoint("termvisor.store.tables.deliveries", "DeliveryTable", "end", "before"),
        CrashPoint("termvisor.store.tables.audit", "AuditTable", "add", "before", "outcome"),
    ),
    "told": (
        CrashPoint("termvisor.store.tables.deliveries", "DeliveryTable", "end", "after"),
        CrashPoint("termvisor.store.tables.audit", "AuditTable", "add", "after", "outcome"),
    ),
}
HARMLESS_MOMENTS = ("judged", "told")
"""Nothing had been done yet, or all of it is on record: the run ends as an undisturbed one does."""

"""Crash points of a workflow action, from the policy verdict to the recorded outcome."""

from contextvars import ContextVar
from typing import NamedTuple


class CrashPoint(NamedTuple):
    """A call in the daemon; with ``stage`` only if it records that audit stage."""

    module: str
    owner: str
    name: str
    when: str
    stage: str = ""


class ActingRun(NamedTuple):
    """The run that executes an action, with its pane and step."""

    pane: int | None
    run: int
    step: int


CURRENT_ACTION: ContextVar[ActingRun | None] = ContextVar("acting", default=None)
CRASH_POINTS = {
    "checked": (CrashPoint("termvisor.actions.gate", "Gate", "_admit", "after"),),
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
    "finished": (
        CrashPoint("termvisor.store.tables.deliveries", "DeliveryTable", "end", "after"),
        CrashPoint("termvisor.store.tables.audit", "AuditTable", "add", "after", "outcome"),
    ),
}
HARMLESS_MOMENTS = ("checked", "finished")
"""Nothing was done yet, or everything is recorded: the run ends like an undisturbed one."""

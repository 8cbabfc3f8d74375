"""The moments of an act of a run, from the verdict to what is told of it: in each of them a daemon may die."""

from contextvars import ContextVar
from typing import NamedTuple


class Point(NamedTuple):
    """A call of the daemon's own; with ``stage`` only where it records that."""

    module: str
    owner: str
    name: str
    when: str
    stage: str = ""


class Acting(NamedTuple):
    """Which run acts here, in which pane and at which step."""

    pane: int | None
    run: int
    step: int


ACTING: ContextVar[Acting | None] = ContextVar("acting", default=None)
MOMENTS = {
    "judged": (Point("termvisor.actions.gate", "Gate", "_admit", "after"),),
    "recorded": (
        Point("termvisor.store.tables.deliveries", "Sends", "begin", "after"),
        Point("termvisor.store.tables.audit", "Audit", "add", "after", "intent"),
    ),
    "written": (
        Point("termvisor.backends.tmux.pane_control", "TmuxControl", "write", "after"),
        Point("termvisor.backends.tmux.pane_control", "TmuxControl", "open", "after"),
    ),
    "pressed": (Point("termvisor.backends.tmux.pane_control", "TmuxControl", "press", "after"),),
    "verified": (
        Point("termvisor.store.tables.deliveries", "Sends", "end", "before"),
        Point("termvisor.store.tables.audit", "Audit", "add", "before", "outcome"),
    ),
    "told": (
        Point("termvisor.store.tables.deliveries", "Sends", "end", "after"),
        Point("termvisor.store.tables.audit", "Audit", "add", "after", "outcome"),
    ),
}
AS_IF_NOTHING_HAPPENED = ("judged", "told")
"""Nothing had been done yet, or all of it is on record: the run ends as an undisturbed one does."""

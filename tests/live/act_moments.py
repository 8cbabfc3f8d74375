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
    "judged": (Point("termvisor.act.gate", "Gate", "_admit", "after"),),
    "recorded": (
        Point("termvisor.store.sends", "Sends", "begin", "after"),
        Point("termvisor.store.audit", "Audit", "add", "after", "intent"),
    ),
    "written": (
        Point("termvisor.mux.tmux.control", "TmuxControl", "write", "after"),
        Point("termvisor.mux.tmux.control", "TmuxControl", "open", "after"),
    ),
    "pressed": (Point("termvisor.mux.tmux.control", "TmuxControl", "press", "after"),),
    "verified": (
        Point("termvisor.store.sends", "Sends", "end", "before"),
        Point("termvisor.store.audit", "Audit", "add", "before", "outcome"),
    ),
    "told": (
        Point("termvisor.store.sends", "Sends", "end", "after"),
        Point("termvisor.store.audit", "Audit", "add", "after", "outcome"),
    ),
}
AS_IF_NOTHING_HAPPENED = ("judged", "told")
"""Nothing had been done yet, or all of it is on record: the run ends as an undisturbed one does."""

"""What the engine stands on. The daemon gives it."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.approval import Approval
from termvisor.model.event import Event
from termvisor.model.run import RunSignal
from termvisor.workflow.shelf import Shelf
from termvisor.workflow.surroundings import Around, Runs


class Ground(Struct, frozen=True, kw_only=True):
    runs: Runs
    around: Around
    shelf: Shelf
    clock: Clock
    words: Bus[RunSignal]
    questions: Bus[Approval]
    events: Bus[Event]
    most: Callable[[], int]

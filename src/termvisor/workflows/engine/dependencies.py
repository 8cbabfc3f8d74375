"""What the engine stands on. The daemon gives it."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.action.approval import Approval
from termvisor.model.event import Event
from termvisor.model.workflow.run import RunSignal
from termvisor.workflows.engine.services import Around, Runs
from termvisor.workflows.registry import Shelf


class Ground(Struct, frozen=True, kw_only=True):
    runs: Runs
    around: Around
    shelf: Shelf
    clock: Clock
    words: Bus[RunSignal]
    questions: Bus[Approval]
    events: Bus[Event]
    most: Callable[[], int]

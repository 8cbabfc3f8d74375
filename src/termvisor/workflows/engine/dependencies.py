"""What the engine stands on. The daemon gives it."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.model.action.approval import Approval
from termvisor.model.event import Event
from termvisor.model.workflow.run import RunSignal
from termvisor.workflows.engine.services import RunStore, StepServices
from termvisor.workflows.registry import WorkflowRegistry


class EngineDependencies(Struct, frozen=True, kw_only=True):
    runs: RunStore
    services: StepServices
    registry: WorkflowRegistry
    clock: Clock
    signals: Bus[RunSignal]
    approvals: Bus[Approval]
    events: Bus[Event]
    get_max_concurrent: Callable[[], int]

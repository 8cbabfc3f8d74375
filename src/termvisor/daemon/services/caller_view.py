"""The world as one caller may use it: everything to look at, and a door that knows who they are.

The door is made when somebody stands before it: most calls only look, and need nothing of what is behind it.
"""

from collections.abc import Callable
from functools import cached_property

from termvisor.clock import Clock
from termvisor.ops.api.accounts_service import AccountService
from termvisor.ops.api.agents_service import AgentService
from termvisor.ops.api.detections_service import DetectionService
from termvisor.ops.api.gate_service import GateService
from termvisor.ops.api.services import HistoryService, LiveUpdates, MaintenanceService, PaneService, Services
from termvisor.ops.api.workflows_service import WorkflowService
from termvisor.settings import Paths, Settings


class CallerServices:
    def __init__(self, services: Services, make_gate: Callable[[], GateService]):
        self._services, self._make_gate = services, make_gate

    @cached_property
    def gate(self) -> GateService:
        return self._make_gate()

    @property
    def panes(self) -> PaneService:
        return self._services.panes

    @property
    def history(self) -> HistoryService:
        return self._services.history

    @property
    def detections(self) -> DetectionService:
        return self._services.detections

    @property
    def updates(self) -> LiveUpdates:
        return self._services.updates

    @property
    def clock(self) -> Clock:
        return self._services.clock

    @property
    def configuration(self) -> tuple[Paths, Settings]:
        return self._services.configuration

    @property
    def workflows(self) -> WorkflowService:
        return self._services.workflows

    @property
    def accounts(self) -> AccountService:
        return self._services.accounts

    @property
    def maintenance(self) -> MaintenanceService:
        return self._services.maintenance

    @property
    def agents(self) -> AgentService:
        return self._services.agents

"""Services of a process without a daemon: paths, settings and the clock."""

from typing import NoReturn

from termvisor.clock import Clock, SystemClock
from termvisor.errors import Unavailable
from termvisor.ops.api.accounts_service import AccountService
from termvisor.ops.api.agents_service import AgentService
from termvisor.ops.api.detections_service import DetectionService
from termvisor.ops.api.services import HistoryService, LiveUpdates, MaintenanceService, PaneService
from termvisor.ops.api.workflows_service import WorkflowService
from termvisor.settings import Paths, Settings, load_settings, resolve_paths


class LocalServices:
    """Serve operations that run without a daemon; every other service raises Unavailable."""

    def __init__(self, paths: Paths | None = None, clock: Clock | None = None):
        self.paths = paths or resolve_paths()
        self.clock: Clock = clock or SystemClock()

    @property
    def configuration(self) -> tuple[Paths, Settings]:
        return self.paths, load_settings(self.paths)

    @property
    def panes(self) -> PaneService:
        _raise_no_daemon()

    @property
    def accounts(self) -> AccountService:
        _raise_no_daemon()

    @property
    def agents(self) -> AgentService:
        _raise_no_daemon()

    @property
    def history(self) -> HistoryService:
        _raise_no_daemon()

    @property
    def updates(self) -> LiveUpdates:
        _raise_no_daemon()

    @property
    def maintenance(self) -> MaintenanceService:
        _raise_no_daemon()

    @property
    def detections(self) -> DetectionService:
        _raise_no_daemon()

    @property
    def workflows(self) -> WorkflowService:
        _raise_no_daemon()


def _raise_no_daemon() -> NoReturn:
    raise Unavailable("no daemon is running", hint="Start it with `visor up`.")

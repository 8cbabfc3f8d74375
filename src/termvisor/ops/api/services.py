"""The services that an operation may use, and those available without a daemon.

An operation gets them as its first argument and uses no other part of the daemon.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from termvisor.clock import Clock, SystemClock
from termvisor.errors import Unavailable
from termvisor.settings import Paths, Settings, load_settings, resolve_paths

if TYPE_CHECKING:
    # Types only: a client imports operations to run local ones, and must not load SQLite, agents or the gate for that.
    from termvisor.daemon.jobs.job_service import JobService
    from termvisor.daemon.services.accounts import AccountService
    from termvisor.daemon.services.agents import AgentService
    from termvisor.daemon.services.detections import DetectionService
    from termvisor.daemon.services.gate import GateService
    from termvisor.daemon.services.history import HistoryService
    from termvisor.daemon.services.maintenance import MaintenanceService
    from termvisor.daemon.services.panes import PaneService
    from termvisor.daemon.services.updates import LiveUpdates
    from termvisor.daemon.workflows.workflow_service import WorkflowService


class Services:
    """One attribute per service. ``gate`` acts for the caller to whom the daemon bound these services.

    An operation cannot act as another caller.
    """

    clock: Clock
    paths: Paths
    get_settings: Callable[[], Settings]
    panes: "PaneService"
    history: "HistoryService"
    agents: "AgentService"
    detections: "DetectionService"
    updates: "LiveUpdates"
    maintenance: "MaintenanceService"
    workflows: "WorkflowService"
    accounts: "AccountService"
    jobs: "JobService"
    gate: "GateService"

    @property
    def configuration(self) -> tuple[Paths, Settings]:
        """Return the paths and the current settings, which a reload may change."""
        return self.paths, self.get_settings()


class LocalServices(Services):
    """Services for operations that run without a daemon; every other service raises Unavailable."""

    def __init__(self, paths: Paths | None = None, clock: Clock | None = None):
        self.paths = paths or resolve_paths()
        self.clock = clock or SystemClock()
        # Read on demand: `config path` and `config validate` must work even if the config file is invalid.
        self.get_settings = lambda: load_settings(self.paths)

    # Reached only for services that are not set: Python calls this after the normal lookup has failed.
    def __getattr__(self, name: str) -> NoReturn:
        raise Unavailable("no daemon is running", hint="Start it with `visor up`.")

"""The services that operations use, implemented with the components of the daemon."""

import os
from copy import copy
from functools import cache, cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from termvisor.daemon.components import Components
from termvisor.daemon.jobs.job_service import JobService
from termvisor.daemon.services.accounts import AccountService, build_actor
from termvisor.daemon.services.agents import AgentService
from termvisor.daemon.services.callers import CallerIdentifier
from termvisor.daemon.services.detections import DetectionService
from termvisor.daemon.services.history import HistoryService
from termvisor.daemon.services.maintenance import MaintenanceService
from termvisor.daemon.services.panes import PaneService
from termvisor.daemon.services.updates import LiveUpdates
from termvisor.daemon.workflows.workflow_service import WorkflowService
from termvisor.errors import Unavailable
from termvisor.model.action.action import Actor, RunProgram, Spawn
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.services import Services

if TYPE_CHECKING:
    from termvisor.capture.server_watcher import ServerWatcher
    from termvisor.daemon.services.gate import GateComponents, GateService


class DaemonServices(Services):
    """All services of the daemon; `bind_caller` returns a copy with the gate of one caller."""

    _caller: Actor
    _cause: str = ""

    def __init__(self, components: Components):
        self._components = components
        self.clock, self.paths = components.clock, components.paths
        self.get_settings = lambda: components.settings
        self.panes = PaneService(components)
        self.history = HistoryService(components)
        self.updates = LiveUpdates(components)
        self.maintenance = MaintenanceService(components)
        self.agents = AgentService(components)
        self.detections = DetectionService(components)
        self.callers = CallerIdentifier(components)
        self._get_gate_components = cache(self._build_gate_components)
        self.accounts = AccountService(components, self._run_program)
        self.workflows = WorkflowService(components, self, self._get_gate_components, self.accounts.select)
        self.jobs = components.jobs = JobService(components, self._find_tmux_server)
        self.maintenance.find_policy_problem = self._find_policy_problem
        self.keeps_recorder = False
        """True if the recorder keeps running for the next daemon when this one stops."""

    def bind_caller(self, actor: Actor, cause: str = "") -> "DaemonServices":
        """Return a copy of the services whose gate acts for ``actor``; ``cause`` begins its correlations."""
        # A shallow copy: all callers share the services, and only the gate depends on the caller.
        bound = copy(self)
        # The copy must not inherit the gate that another caller has already built.
        bound.__dict__.pop("gate", None)
        bound._caller, bound._cause = actor, cause
        return bound

    @cached_property
    def gate(self) -> "GateService":  # type: ignore[override]
        """The gate of the bound caller, built on first use because most calls only read."""
        from termvisor.daemon.services.gate import GateService

        return GateService(self.gate_components, self._locate_caller(self._caller), self._cause)

    @property
    def gate_components(self) -> "GateComponents":
        """The gate and its parts, shared by all callers."""
        return self._get_gate_components()

    def _build_gate_components(self) -> "GateComponents":
        # Imported with the first action: a daemon that only records needs less memory.
        from termvisor.daemon.acting.gate_assembly import build_gate

        return build_gate(self._components, self.panes.find_pane)

    async def _run_program(self, action: RunProgram) -> Outcome:
        return await self.gate_components.gate.run(action, build_actor(), Preconditions())

    async def _find_tmux_server(self, socket: str) -> "ServerWatcher":
        find_server = self.gate_components.find_server
        if find_server is None:
            raise Unavailable("no tmux server can be found")
        return await find_server(Spawn(where="window", server=socket))

    def _find_policy_problem(self) -> str:
        # Without a file there is nothing to read, and the gate is not built for it.
        if not os.path.lexists(self.paths.policy_file):
            return ""
        file = self.gate_components.policy_checker.file
        file.get_current()
        return file.problem

    def _locate_caller(self, actor: Actor) -> Actor:
        """Return the caller with the pane that it runs in, read on first use because most calls only read."""
        return actor if actor.pane is not None else replace(actor, pane=self.callers.find_pane(actor.pid))

"""Implement the services that operations use, over the components of the daemon."""

from copy import copy
from functools import cache, cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from termvisor.daemon.components import Components
from termvisor.daemon.services.accounts import DaemonAccounts, build_actor
from termvisor.daemon.services.agents import DaemonAgents
from termvisor.daemon.services.detections import DaemonDetections
from termvisor.daemon.services.history import DaemonHistory
from termvisor.daemon.services.maintenance import DaemonMaintenance
from termvisor.daemon.services.panes import DaemonPanes
from termvisor.daemon.services.updates import DaemonUpdates
from termvisor.daemon.workflows.workflow_service import DaemonWorkflows
from termvisor.model.action.action import Actor, RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.settings import Paths, Settings
from termvisor.system.process_start import list_ancestor_names
from termvisor.system.tty import find_terminal

if TYPE_CHECKING:
    from termvisor.daemon.services.gate import GateComponents
    from termvisor.ops.api.gate_service import GateService

AGENT_PROGRAMS = frozenset(
    {"claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "aider", "goose", "amp"}
)
"""Agents run commands in a terminal too: a caller below one of these programs is not a person."""


class DaemonServices:
    """All services of the daemon; `bind_caller` gives a copy with the gate of one caller."""

    _caller: Actor

    def __init__(self, components: Components):
        self._components = components
        self.clock = components.clock
        self.panes = DaemonPanes(components)
        self.history = DaemonHistory(components)
        self.updates = DaemonUpdates(components)
        self.maintenance = DaemonMaintenance(components)
        self.agents = DaemonAgents(components)
        self.detections = DaemonDetections(components)
        self._get_gate_components = cache(self._build_gate_components)
        self.accounts = DaemonAccounts(components, self._run_program)
        self.workflows = DaemonWorkflows(components, self, self._get_gate_components, self.accounts)
        self.keeps_recorder = False
        """True if the recorder keeps running when the daemon stops, for the next daemon."""

    def bind_caller(self, actor: Actor) -> "DaemonServices":
        """Return a copy of the services whose gate acts for ``actor``."""
        bound = copy(self)
        bound._caller = actor
        return bound

    @cached_property
    def gate(self) -> "GateService":
        """The gate of the bound caller; built on first use, because most calls only read."""
        from termvisor.daemon.services.gate import CallerGate

        return CallerGate(self.gate_components, self._identify_caller(self._caller))

    @property
    def gate_components(self) -> "GateComponents":
        """The gate and its parts, shared by all callers."""
        return self._get_gate_components()

    @property
    def configuration(self) -> tuple[Paths, Settings]:
        return self._components.paths, self._components.settings

    def _build_gate_components(self) -> "GateComponents":
        # Imported with the first action: a daemon that only records needs less memory.
        from termvisor.daemon.acting.gate_assembly import build_gate

        return build_gate(self._components, self.panes.find_pane)

    async def _run_program(self, action: RunProgram) -> Outcome:
        return await self.gate_components.gate.run(action, build_actor(), Preconditions())

    def _identify_caller(self, actor: Actor) -> Actor:
        """Add the caller's own pane, and mark a caller started by an agent as an agent."""
        tty = find_terminal(actor.pid)
        panes = (
            pane
            for watcher in self._components.server_supervisor.watchers.values()
            for pane in watcher.known_panes.values()
        )
        own_pane = next((pane.id for pane in panes if tty and pane.facts.tty == tty), None)
        is_agent = actor.kind == "human" and not AGENT_PROGRAMS.isdisjoint(list_ancestor_names(actor.pid))
        return replace(actor, pane=own_pane, kind="agent" if is_agent else actor.kind)

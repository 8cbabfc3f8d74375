"""The live World that operations see: the watched fleet, the stored history, the news of both."""

from contextlib import AbstractContextManager
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from termvisor.bus import Subscription
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.daemon.components import Components
from termvisor.daemon.replay.colored_redaction import redact_colored_rows, redact_rows
from termvisor.daemon.services.accounts import DaemonAccounts, build_actor
from termvisor.daemon.services.agents import DaemonAgents
from termvisor.daemon.services.caller_view import CallerServices
from termvisor.daemon.services.detections import DaemonDetections
from termvisor.daemon.services.history import DaemonRecording
from termvisor.daemon.services.maintenance import DaemonMaintenance
from termvisor.daemon.services.updates import UserVariableReports
from termvisor.daemon.workflows.workflow_service import DaemonWorkflows
from termvisor.errors import NotFound
from termvisor.model.action.action import Actor, RunProgram
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.event import Event
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Gap, Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.search_query import SearchQuery, SearchResult
from termvisor.pipeline import get_activity
from termvisor.search.executor import search
from termvisor.settings import Paths, Settings
from termvisor.store import StoredPane
from termvisor.system.process_start import list_ancestor_names
from termvisor.system.tty import find_terminal

if TYPE_CHECKING:
    from termvisor.daemon.services.gate import GateComponents
    from termvisor.ops.api.gate_service import GateService

AGENT_PROGRAMS = frozenset(
    {"claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "aider", "goose", "amp"}
)
"""Programs that act by themselves: what they start is not started by a person."""


class DaemonPanes:
    def __init__(self, components: Components):
        self._components = components

    async def list_panes(self, *, include_gone: bool = False) -> list[PaneView]:
        await self._components.server_supervisor.first_scan_done.wait()
        return [
            self._build_view(pane) for pane in await self._components.store.panes.list_panes(include_gone=include_gone)
        ]

    async def find_pane(self, pane_id: PaneId) -> PaneView | None:
        await self._components.server_supervisor.first_scan_done.wait()
        found = await self._components.store.panes.find(pane_id)
        return None if found is None else self._build_view(found)

    def get_pending_line(self, pane: PaneId) -> str:
        text = self._components.pipeline.current_readers.get(pane)
        return text.pending_line if text else ""

    async def capture_screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        watch, mux_id = self._locate_pane(pane)
        seen = await watch.server.capture_pane(mux_id, escapes=escapes)
        secrets = self._components.pipeline.get_secrets(pane)
        if escapes:
            rows = redact_colored_rows(seen.rows, seen.rows_above, secrets)
        else:
            rows = redact_rows([row.rstrip() for row in seen.rows], [row.rstrip() for row in seen.rows_above], secrets)
        return seen.to_screen(pane, rows, self._components.clock.now())

    async def wait_until_stored(self, pane: PaneId | None = None) -> None:
        await (
            self._components.server_supervisor.first_scan_done.wait()
        )  # before that, the epochs of an earlier daemon are not open yet
        await self._components.pipeline.wait_settled(pane)

    def _locate_pane(self, pane: PaneId) -> tuple[ServerWatcher, MuxPaneId]:
        place = self._components.server_supervisor.locate_pane(pane)
        if place is not None:
            return place
        raise NotFound(f"pane {pane} no longer exists", hint="`visor get-text` still reads what it printed.")

    def _build_view(self, pane: StoredPane) -> PaneView:
        parts = self._components
        meter = parts.pipeline.rate_meters.get(pane.id)
        text = parts.pipeline.current_readers.get(pane.id)
        watch = parts.server_supervisor.watchers.get(pane.instance.server.socket)
        is_here = pane.gone_at is None
        return PaneView(
            id=pane.id,
            instance=pane.instance,
            facts=pane.facts,
            activity=get_activity(text),
            heard_by=watch.find_data_plane(pane.instance.mux_id) if watch and is_here else "none",
            first_seen_at=pane.first_seen_at,
            last_output_at=meter.last_at if meter and meter.last_at else pane.last_output_at,
            gone_at=pane.gone_at,
            bytes_heard=pane.bytes_heard + (text.read_offset - text.stored_offset if text else 0),
            bytes_per_second=meter.compute_rate(parts.clock.monotonic()) if meter and is_here else 0.0,
            gaps=pane.gaps,
            lines=pane.lines,
        )


class DaemonHistory:
    def __init__(self, components: Components):
        self._store, self._clock = components.store, components.clock
        self.recording = DaemonRecording(components)
        self.commands = components.store.commands

    async def list_lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        return await self._store.output.read_lines(pane, after=after, before=before, limit=limit)

    async def search(self, query: SearchQuery) -> SearchResult:
        return await search(self._store, query, self._clock.now())

    async def list_events(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        since: int | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> list[Event]:
        return await self._store.events.list(after=after, pane=pane, since=since, kind=kind, limit=limit)

    async def list_gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        return await self._store.output.list_gaps(pane=pane, since=since)


class DaemonUpdates:
    def __init__(self, components: Components):
        self._components = components
        self._user_variables = UserVariableReports(components)

    def subscribe_events(self) -> AbstractContextManager[Subscription[Event]]:
        return self._components.event_log.events.subscribe()

    def subscribe_output(self) -> AbstractContextManager[Subscription[PaneId]]:
        return self._components.pipeline.changed_panes.subscribe()

    async def report_user_variable(self, pane: PaneId, name: str, value: str) -> Event | None:
        return await self._user_variables.store_report(pane, name, value)


class DaemonServices:
    def __init__(self, components: Components):
        self.panes, self.history, self.updates = (
            DaemonPanes(components),
            DaemonHistory(components),
            DaemonUpdates(components),
        )
        self.maintenance = DaemonMaintenance(components)
        self.agents = DaemonAgents(components)
        self.detections = DaemonDetections(components)
        self.clock = components.clock
        self._components = components
        self.accounts = DaemonAccounts(components, self._run_program)
        self.workflows = DaemonWorkflows(components, self, lambda: self.gate_components, self.accounts)
        self.keeps_recorder = False
        """Whether the recorder goes on when this world ends, for a daemon that comes after."""

    def bind_caller(self, actor: Actor) -> CallerServices:
        """This world as one caller may use it."""

        def build_gate() -> "GateService":
            from termvisor.daemon.services.gate import CallerGate

            return CallerGate(self.gate_components, self._identify_caller(actor))

        return CallerServices(self, build_gate)

    @cached_property
    def gate_components(self) -> "GateComponents":
        """What acts; loaded when somebody acts for the first time."""
        from termvisor.daemon.acting.pane_access import build_gate

        return build_gate(self._components, self.panes.find_pane)

    async def _run_program(self, action: RunProgram) -> Outcome:
        return await self.gate_components.gate.run(action, build_actor(), Preconditions())

    def _identify_caller(self, actor: Actor) -> Actor:
        """What the system says of a caller: an agent that has a terminal is no person, and its pane is its own."""
        tty = find_terminal(actor.pid)
        panes = (
            known
            for watch in self._components.server_supervisor.watchers.values()
            for known in watch.known_panes.values()
        )
        own = next((known.id for known in panes if tty and known.facts.tty == tty), None)
        is_agent = actor.kind == "human" and not AGENT_PROGRAMS.isdisjoint(list_ancestor_names(actor.pid))
        return replace(actor, pane=own, kind="agent" if is_agent else actor.kind)

    @property
    def configuration(self) -> tuple[Paths, Settings]:
        return self._components.paths, self._components.settings

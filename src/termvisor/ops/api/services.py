"""Interfaces of the services that operations use.

Protocols, so that an operation imports only values and errors, and runs on the daemon's services and on fakes alike.
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.event import Event
from termvisor.model.health import HealthStatus
from termvisor.model.ids import CommandId, PaneId, ScreenId
from termvisor.model.maintenance import DatabaseBackup, IntegrityReport, MaintenanceRun
from termvisor.model.reload import ReloadResult
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.model.terminal.output import Delta, Epoch, Gap, Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.search_query import SearchQuery, SearchResult
from termvisor.ops.api.accounts_service import AccountService
from termvisor.ops.api.agents_service import AgentService
from termvisor.ops.api.detections_service import DetectionService
from termvisor.ops.api.workflows_service import WorkflowService
from termvisor.settings import Paths, Settings


class PaneService(Protocol):
    """Current state of the panes."""

    async def list_panes(self, *, include_gone: bool = False) -> list[PaneView]:
        """Return the panes ordered by id; with ``include_gone`` also closed ones."""

    async def find_pane(self, pane_id: PaneId) -> PaneView | None:
        """Return a pane by id, also after it was closed."""

    def get_pending_line(self, pane: PaneId) -> str:
        """Return the incomplete last line of a pane, redacted; empty if there is none."""

    async def capture_screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        """Capture the visible screen."""

    async def wait_until_stored(self, pane: PaneId | None = None) -> None:
        """Wait until the output captured so far, of all panes or of one, is stored as text."""


class HistoryService(Protocol):
    """Stored output and events. Lists are ordered oldest first."""

    async def list_lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Return lines with ``after < number < before``: the first ``limit`` if ``after`` is set, else the last."""

    async def search(self, query: SearchQuery) -> SearchResult: ...

    async def list_events(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        since: int | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> list[Event]:
        """Return the first events after the cursor ``after``, else the newest. Raises InvalidCursor."""

    async def list_gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]: ...

    @property
    def commands(self) -> "CommandHistory": ...

    @property
    def recording(self) -> "RecordingService": ...


class CommandHistory(Protocol):
    """Commands that shells ran, as far as their marks reported them."""

    async def find(self, pane: PaneId, which: CommandId | Literal["last"]) -> ShellCommand | None:
        """Return a command of a pane by id, or the one that started last; None if there is none."""

    async def find_after_line(self, pane: PaneId, line: int) -> ShellCommand | None:
        """Return the first command whose output begins after this line number."""

    async def list(
        self,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[ShellCommand]:
        """Return the newest matching commands, oldest first.

        ``since`` compares the start; ``failed`` selects nonzero exit codes; ``text`` ignores the case of ASCII letters.
        """


class RecordingService(Protocol):
    """Recorded raw output and stored screens of a pane."""

    async def list_epochs(self, pane: PaneId) -> list[Epoch]: ...

    def read_raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        """Yield the raw bytes of a pane, epoch by epoch, as stored: NOT redacted."""

    def render_frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[ReplayFrame, None]:
        """Yield the screens that a pane showed, redacted, as fast as they can be rendered. Close the generator.

        The first frame is the screen at ``since``. Output within ``interval`` seconds is one frame.
        """

    async def find_screen_at(self, pane: PaneId, at: int) -> Screen | None:
        """Return the last screen stored at or before this time; None if there is none."""

    async def find_screen(self, screen_id: ScreenId) -> Screen | None: ...


class LiveUpdates(Protocol):
    """Notifications about newly stored data. A subscriber that missed items re-reads the history from its cursor."""

    def subscribe_events(self) -> AbstractContextManager[Subscription[Event]]: ...

    def subscribe_output(self) -> AbstractContextManager[Subscription[PaneId]]:
        """Subscribe to the ids of panes with new lines or commands, or a changed incomplete line."""

    async def report_user_variable(self, pane: PaneId, name: str, value: str) -> Event | None:
        """Store and publish a user variable that a terminal received; None if the pane exceeds its rate limit.

        ``value`` is JSON, plain or in base64. Raises BadRequest if it is malformed.
        """


class MaintenanceService(Protocol):
    """Health, settings reload and database maintenance."""

    async def get_health(self) -> HealthStatus: ...

    async def reload_settings(self) -> ReloadResult:
        """Reload the settings and apply those that need no restart. On ConfigError the old ones stay in force."""

    def run_maintenance(self, *, dry_run: bool = False) -> AsyncIterator[MaintenanceRun]:
        """Seal, mask and compress raw segments, then delete data beyond the retention limits."""

    async def check_database(self, *, thorough: bool = False) -> IntegrityReport: ...

    def vacuum_database(self, *, rebuild_indexes: bool = False) -> AsyncIterator[MaintenanceRun]:
        """Return free pages to the file system, in small slices that do not block writers.

        With ``rebuild_indexes``, rebuild the search indexes from the stored text instead; storing pauses meanwhile,
        and nothing is lost, since the recorder continues.
        """

    async def backup_database(self, path: str) -> DatabaseBackup:
        """Copy the database consistently to a new private file. Raises Conflict if the file exists."""


class ReadOnlyServices(Protocol):
    """Services that only read."""

    @property
    def panes(self) -> PaneService: ...

    @property
    def agents(self) -> AgentService: ...

    @property
    def history(self) -> HistoryService: ...

    @property
    def detections(self) -> DetectionService: ...

    @property
    def updates(self) -> LiveUpdates: ...


class Services(ReadOnlyServices, Protocol):
    @property
    def clock(self) -> Clock: ...

    @property
    def configuration(self) -> tuple[Paths, Settings]: ...

    @property
    def maintenance(self) -> MaintenanceService: ...

    @property
    def workflows(self) -> WorkflowService: ...

    @property
    def accounts(self) -> AccountService: ...

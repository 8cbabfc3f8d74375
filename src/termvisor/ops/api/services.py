"""What an operation may see of the product: small protocols, so that an op imports nothing but values and errors."""

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
    """The panes as they are now."""

    async def list_panes(self, *, include_gone: bool = False) -> list[PaneView]:
        """Panes that exist, or with ``gone`` also those that ended; by id."""

    async def find_pane(self, pane_id: PaneId) -> PaneView | None:
        """The one with this number, also after it ended."""

    def get_pending_line(self, pane: PaneId) -> str:
        """The unfinished last line of a pane, redacted; empty when there is none."""

    async def capture_screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        """What a person sees in the pane now."""

    async def wait_until_stored(self, pane: PaneId | None = None) -> None:
        """Wait until what is in the raw logs at this moment, or in that of one pane, is text in the store."""


class HistoryService(Protocol):
    """What was stored. Lists come oldest first."""

    async def list_lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Lines with ``after < number < before``: the first ones when ``after`` is given, else the last ones."""

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
        """With ``after`` the first events beyond that cursor (a foreign one is ``InvalidCursor``), else the newest."""

    async def list_gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]: ...

    @property
    def commands(self) -> "CommandHistory": ...

    @property
    def recording(self) -> "RecordingService": ...


class CommandHistory(Protocol):
    """What shells ran, as far as they told it by marks."""

    async def find(self, pane: PaneId, which: CommandId | Literal["last"]) -> ShellCommand | None:
        """The command of that id in this pane, or the one that started last; None when there is none."""

    async def find_after_line(self, pane: PaneId, line: int) -> ShellCommand | None:
        """The first command of a pane whose output begins after this line number."""

    async def list(
        self,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[ShellCommand]:
        """The newest ones, oldest first: started not before ``since``, with a status other than 0, whose line holds
        ``text`` (ASCII letters in any case)."""


class RecordingService(Protocol):
    """What a pane's past was made of."""

    async def list_epochs(self, pane: PaneId) -> list[Epoch]: ...

    def read_raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        """The raw bytes of a pane, epoch after epoch, as they are on disk: NOT redacted."""

    def render_frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[ReplayFrame, None]:
        """The screens that a pane showed, redacted, as fast as they can be drawn; close it when you need no more.

        The first one is the screen at ``since``. What was printed within ``interval`` seconds is one frame.
        """

    async def find_screen_at(self, pane: PaneId, at: int) -> Screen | None:
        """The stored screen of a pane that repaints, nearest to this time, at it or before; None when there is none."""

    async def find_screen(self, screen_id: ScreenId) -> Screen | None: ...


class LiveUpdates(Protocol):
    """What is being stored right now. A listener that missed something re-reads the history from its cursor."""

    def subscribe_events(self) -> AbstractContextManager[Subscription[Event]]: ...

    def subscribe_output(self) -> AbstractContextManager[Subscription[PaneId]]:
        """Tells the panes that have new lines, commands or a changed pending line."""

    async def report_user_variable(self, pane: PaneId, name: str, value: str) -> Event | None:
        """Store, then tell, a user variable that a terminal heard; None when the pane reports too much.

        ``value`` is JSON, plain or in base64; what is malformed is ``BadRequest``.
        """


class MaintenanceService(Protocol):
    """How the product itself is doing, and what keeps it well."""

    async def get_health(self) -> HealthStatus: ...

    async def reload_settings(self) -> ReloadResult:
        """Read the settings again and take over what is safe; `ConfigError` leaves the old ones."""

    def run_maintenance(self, *, dry_run: bool = False) -> AsyncIterator[MaintenanceRun]:
        """Seal, mask and compress raw segments, then delete what is older or more than the settings keep."""

    async def check_database(self, *, thorough: bool = False) -> IntegrityReport: ...

    def vacuum_database(self, *, rebuild_indexes: bool = False) -> AsyncIterator[MaintenanceRun]:
        """Give the room of deleted rows back to the disk, in slices that hold up nobody; or make the search indexes
        anew from the stored text, while which nothing is stored, and nothing is lost.
        """

    async def backup_database(self, path: str) -> DatabaseBackup:
        """A consistent copy of the database in a new private file; one that exists is a ``Conflict``."""


class ReadOnlyServices(Protocol):
    """What is watched, now and before."""

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

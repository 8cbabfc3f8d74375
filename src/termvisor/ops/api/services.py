"""What an operation may see of the product: small protocols, so that an op imports nothing but values and errors."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractContextManager
from typing import Literal, Protocol

from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.event import Event
from termvisor.model.health import Health
from termvisor.model.ids import CommandId, PaneId, ScreenId
from termvisor.model.maintenance import Backup, Checked, Maintenance
from termvisor.model.reload import Reloaded
from termvisor.model.terminal.command import Command
from termvisor.model.terminal.frame import Frame
from termvisor.model.terminal.output import Delta, Epoch, Gap, Line
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.search_query import Found, Question
from termvisor.ops.api.accounts_service import Accounts
from termvisor.ops.api.agents_service import Agents
from termvisor.ops.api.detections_service import Detections
from termvisor.ops.api.workflows_service import Runs
from termvisor.settings import Places, Settings


class Fleet(Protocol):
    """The panes as they are now."""

    async def panes(self, *, gone: bool = False) -> list[PaneView]:
        """Panes that exist, or with ``gone`` also those that ended; by id."""

    async def pane(self, number: PaneId) -> PaneView | None:
        """The one with this number, also after it ended."""

    def pending(self, pane: PaneId) -> str:
        """The unfinished last line of a pane, redacted; empty when there is none."""

    async def screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        """What a person sees in the pane now."""

    async def settle(self, pane: PaneId | None = None) -> None:
        """Wait until what is in the raw logs at this moment, or in that of one pane, is text in the store."""


class History(Protocol):
    """What was stored. Lists come oldest first."""

    async def lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Lines with ``after < number < before``: the first ones when ``after`` is given, else the last ones."""

    async def search(self, question: Question) -> Found: ...

    async def events(
        self,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        since: int | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> list[Event]:
        """With ``after`` the first events beyond that cursor (a foreign one is ``InvalidCursor``), else the newest."""

    async def gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]: ...

    @property
    def commands(self) -> "Commands": ...

    @property
    def recording(self) -> "Recording": ...


class Commands(Protocol):
    """What shells ran, as far as they told it by marks."""

    async def one(self, pane: PaneId, which: CommandId | Literal["last"]) -> Command | None:
        """The command of that id in this pane, or the one that started last; None when there is none."""

    async def following(self, pane: PaneId, line: int) -> Command | None:
        """The first command of a pane whose output begins after this line number."""

    async def list(
        self,
        *,
        pane: PaneId | None = None,
        since: int | None = None,
        failed: bool = False,
        text: str | None = None,
        limit: int = 20,
    ) -> list[Command]:
        """The newest ones, oldest first: started not before ``since``, with a status other than 0, whose line holds
        ``text`` (ASCII letters in any case)."""


class Recording(Protocol):
    """What a pane's past was made of."""

    async def epochs(self, pane: PaneId) -> list[Epoch]: ...

    def raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        """The raw bytes of a pane, epoch after epoch, as they are on disk: NOT redacted."""

    def frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[Frame, None]:
        """The screens that a pane showed, redacted, as fast as they can be drawn; close it when you need no more.

        The first one is the screen at ``since``. What was printed within ``interval`` seconds is one frame.
        """

    async def screen_at(self, pane: PaneId, at: int) -> Screen | None:
        """The stored screen of a pane that repaints, nearest to this time, at it or before; None when there is none."""

    async def screen(self, number: ScreenId) -> Screen | None: ...


class News(Protocol):
    """What is being stored right now. A listener that missed something re-reads the history from its cursor."""

    def events(self) -> AbstractContextManager[Subscription[Event]]: ...

    def output(self) -> AbstractContextManager[Subscription[PaneId]]:
        """Tells the panes that have new lines, commands or a changed pending line."""

    async def report(self, pane: PaneId, name: str, value: str) -> Event | None:
        """Store, then tell, a user variable that a terminal heard; None when the pane reports too much.

        ``value`` is JSON, plain or in base64; what is malformed is ``BadRequest``.
        """


class Upkeep(Protocol):
    """How the product itself is doing, and what keeps it well."""

    async def health(self) -> Health: ...

    async def reload(self) -> Reloaded:
        """Read the settings again and take over what is safe; `ConfigError` leaves the old ones."""

    def maintain(self, *, dry_run: bool = False) -> AsyncIterator[Maintenance]:
        """Seal, mask and compress raw segments, then delete what is older or more than the settings keep."""

    async def check(self, *, thorough: bool = False) -> Checked: ...

    def vacuum(self, *, anew: bool = False) -> AsyncIterator[Maintenance]:
        """Give the room of deleted rows back to the disk, in slices that hold up nobody; or make the search indexes
        anew from the stored text, while which nothing is stored, and nothing is lost.
        """

    async def backup(self, path: str) -> Backup:
        """A consistent copy of the database in a new private file; one that exists is a ``Conflict``."""


class Watched(Protocol):
    """What is watched, now and before."""

    @property
    def fleet(self) -> Fleet: ...

    @property
    def agents(self) -> Agents: ...

    @property
    def history(self) -> History: ...

    @property
    def detections(self) -> Detections: ...

    @property
    def news(self) -> News: ...


class World(Watched, Protocol):
    @property
    def clock(self) -> Clock: ...

    @property
    def configuration(self) -> tuple[Places, Settings]: ...

    @property
    def upkeep(self) -> Upkeep: ...

    @property
    def runs(self) -> Runs: ...

    @property
    def accounts(self) -> Accounts: ...

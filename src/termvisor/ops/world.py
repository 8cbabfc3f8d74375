"""What an operation may see of the product: small protocols, so that an op imports nothing but values and errors."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager
from typing import Protocol

from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.model.event import Event
from termvisor.model.health import Health
from termvisor.model.ids import PaneId
from termvisor.model.output import Delta, Epoch, Gap, Line
from termvisor.model.pane import PaneView
from termvisor.model.question import Found, Question
from termvisor.model.screen import Screen
from termvisor.settings import Places, Settings


class Fleet(Protocol):
    """The panes as they are now."""

    async def panes(self, *, gone: bool = False) -> list[PaneView]:
        """Panes that exist, or with ``gone`` also those that ended; by id."""

    def pending(self, pane: PaneId) -> str:
        """The unfinished last line of a pane, redacted; empty when there is none."""

    async def screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        """What a person sees in the pane now."""

    async def settle(self) -> None:
        """Wait until what is in the raw logs at this moment is text in the store."""


class History(Protocol):
    """What was stored. Lists come oldest first."""

    async def lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Lines with ``after < number < before``: the first ones when ``after`` is given, else the last ones."""

    async def search(self, question: Question) -> Found: ...

    async def events(
        self, *, after: int | None = None, pane: PaneId | None = None, since: int | None = None, limit: int = 20
    ) -> list[Event]:
        """With ``after`` the first events beyond that cursor (a foreign one is ``InvalidCursor``), else the newest."""

    async def gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]: ...

    async def epochs(self, pane: PaneId) -> list[Epoch]: ...

    def raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        """The raw bytes of a pane, epoch after epoch, as they are on disk: NOT redacted."""


class News(Protocol):
    """What is being stored right now. A listener that missed something re-reads the history from its cursor."""

    def events(self) -> AbstractContextManager[Subscription[Event]]: ...

    def output(self) -> AbstractContextManager[Subscription[PaneId]]:
        """Tells the panes that have new lines or a changed pending line."""


class World(Protocol):
    @property
    def fleet(self) -> Fleet: ...

    @property
    def history(self) -> History: ...

    @property
    def news(self) -> News: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def configuration(self) -> tuple[Places, Settings]: ...

    async def health(self) -> Health: ...

"""The frames of one pane as the daemon draws them, read without waiting and never far ahead.

The daemon drops readers that leave its answers lying about, so a reel that is full is closed and taken up again later,
from the place it had come to.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import convert
from msgspec.structs import asdict

from termvisor.client.connection import Line, connected
from termvisor.clock import iso, parse_when
from termvisor.errors import Unavailable, VisorError
from termvisor.model.event import Event
from termvisor.model.terminal.frame import Frame
from termvisor.ops.events.list_events import EventItem
from termvisor.ops.history.replay import FrameItem
from termvisor.settings import Places

_AT_ONCE = 64
_FAILURES = 2
"""How often in a row the daemon may go away; then there is none, or it cannot draw this."""


class Reel:
    def __init__(self, where: Places, pane: str, until: int | None):
        self._where, self._pane, self._until = where, pane, until
        self._line: Line | None = None
        self._items: Iterator[Any] = iter(())
        self._from: int | None = None
        self._failures = 0
        self.is_over = False

    def fetch_from(self, at: int | None) -> None:
        """Frames from there on; None is the beginning."""
        self.rest()
        self._from, self.is_over = at, False

    def fileno(self) -> int | None:
        """What becomes readable when there is more to pull."""
        return self._line.fileno() if self._line else None

    def pull(self) -> list[Frame]:
        """What has come; the first call, and one after a rest, asks for it."""
        if self.is_over:
            return []
        found: list[Frame] = []
        try:
            line = self._line or self._ask()
            while not self.is_over and len(found) < _AT_ONCE and line.is_ready():
                found += self._next()
        except VisorError as error:
            self.rest()
            self._failures += 1
            if not isinstance(error, Unavailable) or self._failures > _FAILURES:
                raise
        if found:
            self._failures, self._from = 0, found[-1].at + 1_000_000  # told in milliseconds
        return found

    def rest(self) -> None:
        """The daemon need not go on for us."""
        if self._line:
            self._line.close()
        self._line = None

    def events(self, pane: int) -> list[Event]:
        """What happened to the pane, oldest first."""
        line = Line(connected(self._where.daemon_socket))
        try:
            items = line.call("list_events", {"pane": str(pane), "limit": 10_000})["items"]
        finally:
            line.close()
        return [_event(convert(item, EventItem)) for item in items]

    def _ask(self) -> Line:
        line = self._line = Line(connected(self._where.daemon_socket))
        span = {"at": self._from, "until": self._until}
        params = {name: iso(at) for name, at in span.items() if at is not None}
        self._items = line.items("replay", {"pane": self._pane, **params})
        return line

    def _next(self) -> list[Frame]:
        for item in self._items:
            return [_frame(convert(item, FrameItem))]
        self.is_over = True
        self.rest()
        return []


def _frame(item: FrameItem) -> Frame:
    return convert(asdict(item) | {"at": parse_when(item.at, 0)}, Frame)


def _event(item: EventItem) -> Event:
    return Event(at=parse_when(item.at, 0), kind=item.kind, data=item.data)

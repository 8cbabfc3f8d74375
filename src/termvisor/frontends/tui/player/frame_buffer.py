"""The frames of one pane as the daemon draws them, read without waiting and never far ahead.

The daemon drops readers that leave its answers lying about, so a reel that is full is closed and taken up again later,
from the place it had come to.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import convert
from msgspec.structs import asdict

from termvisor.client.connection import BlockingConnection, connect_to_daemon
from termvisor.clock import format_timestamp, parse_timestamp
from termvisor.errors import Unavailable, VisorError
from termvisor.model.event import Event
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.ops.events.list_events import EventItem
from termvisor.ops.history.replay import FrameItem
from termvisor.settings import Paths

_MAX_FRAMES_PER_PULL = 64
_MAX_FAILURES = 2
"""How often in a row the daemon may go away; then there is none, or it cannot draw this."""


class FrameBuffer:
    def __init__(self, paths: Paths, pane: str, until: int | None):
        self._paths, self._pane, self._until = paths, pane, until
        self._connection: BlockingConnection | None = None
        self._items: Iterator[Any] = iter(())
        self._next_at: int | None = None
        self._failures = 0
        self.is_complete = False

    def seek(self, at: int | None) -> None:
        """Frames from there on; None is the beginning."""
        self.disconnect()
        self._next_at, self.is_complete = at, False

    def fileno(self) -> int | None:
        """What becomes readable when there is more to pull."""
        return self._connection.fileno() if self._connection else None

    def pull_frames(self) -> list[ReplayFrame]:
        """What has come; the first call, and one after a rest, asks for it."""
        if self.is_complete:
            return []
        found: list[ReplayFrame] = []
        try:
            line = self._connection or self._open_stream()
            while not self.is_complete and len(found) < _MAX_FRAMES_PER_PULL and line.is_ready():
                found += self._next_frame()
        except VisorError as error:
            self.disconnect()
            self._failures += 1
            if not isinstance(error, Unavailable) or self._failures > _MAX_FAILURES:
                raise
        if found:
            self._failures, self._next_at = 0, found[-1].at + 1_000_000  # told in milliseconds
        return found

    def disconnect(self) -> None:
        """The daemon need not go on for us."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def list_events(self, pane: int) -> list[Event]:
        """What happened to the pane, oldest first."""
        line = BlockingConnection(connect_to_daemon(self._paths.daemon_socket))
        try:
            items = line.call("list_events", {"pane": str(pane), "limit": 10_000})["items"]
        finally:
            line.close()
        return [_parse_event(convert(item, EventItem)) for item in items]

    def _open_stream(self) -> BlockingConnection:
        line = self._connection = BlockingConnection(connect_to_daemon(self._paths.daemon_socket))
        span = {"at": self._next_at, "until": self._until}
        params = {name: format_timestamp(at) for name, at in span.items() if at is not None}
        self._items = line.stream_items("replay", {"pane": self._pane, **params})
        return line

    def _next_frame(self) -> list[ReplayFrame]:
        for item in self._items:
            return [_parse_frame(convert(item, FrameItem))]
        self.is_complete = True
        self.disconnect()
        return []


def _parse_frame(item: FrameItem) -> ReplayFrame:
    return convert(asdict(item) | {"at": parse_timestamp(item.at, 0)}, ReplayFrame)


def _parse_event(item: EventItem) -> Event:
    return Event(at=parse_timestamp(item.at, 0), kind=item.kind, data=item.data)

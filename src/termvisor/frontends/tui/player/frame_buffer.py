"""Fetch one pane's frames from the daemon without blocking, with limited read-ahead.

The daemon disconnects clients that do not read their answers, so a full buffer disconnects and later resumes after the
last frame.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import convert
from msgspec.structs import asdict

from termvisor.client.connection import BlockingConnection, connect_to_daemon
from termvisor.clock import format_timestamp, parse_timestamp
from termvisor.errors import Unavailable, VisorError
from termvisor.model.event import Event
from termvisor.model.terminal.screen import ReplayFrame
from termvisor.ops.events._event_item import EventItem
from termvisor.ops.history.replay import FrameItem
from termvisor.settings import Paths

# Limited, because keys are handled between two pulls.
_MAX_FRAMES_PER_PULL = 64
_MAX_FAILURES = 2
"""Consecutive failures before giving up: the daemon is gone or cannot render these frames."""


class FrameBuffer:
    def __init__(self, paths: Paths, pane: str, until: int | None):
        self._paths, self._pane, self._until = paths, pane, until
        self._connection: BlockingConnection | None = None
        self._items: Iterator[Any] = iter(())
        self._next_at: int | None = None
        self._failures = 0
        self.is_complete = False

    def seek(self, at: int | None) -> None:
        """Continue with the frames from ``at`` on. None means the beginning."""
        self.disconnect()
        self._next_at, self.is_complete = at, False

    def fileno(self) -> int | None:
        """Return the file descriptor that becomes readable when more frames arrive."""
        return self._connection.fileno() if self._connection else None

    def pull_frames(self) -> list[ReplayFrame]:
        """Return the frames that have arrived; connect first if needed."""
        if self.is_complete:
            return []
        frames: list[ReplayFrame] = []
        try:
            connection = self._connection or self._open_stream()
            while not self.is_complete and len(frames) < _MAX_FRAMES_PER_PULL and connection.is_ready():
                frames += self._next_frame()
        except VisorError as error:
            self.disconnect()
            self._failures += 1
            # Retry only if the daemon went away, because other errors would repeat.
            if not isinstance(error, Unavailable) or self._failures > _MAX_FAILURES:
                raise
        if frames:
            # Times are sent in milliseconds, so continue one millisecond later instead of one nanosecond.
            self._failures, self._next_at = 0, frames[-1].at + 1_000_000
        return frames

    def disconnect(self) -> None:
        """Close the connection, which stops rendering in the daemon."""
        if self._connection:
            self._connection.close()
        self._connection = None

    def list_events(self, pane: int) -> list[Event]:
        """Return the events of the pane, oldest first."""
        connection = BlockingConnection(connect_to_daemon(self._paths.daemon_socket), "tui")
        try:
            items = connection.call("list_events", {"pane": str(pane), "limit": 10_000})["items"]
        finally:
            connection.close()
        return [_parse_event(convert(item, EventItem)) for item in items]

    def _open_stream(self) -> BlockingConnection:
        connection = self._connection = BlockingConnection(connect_to_daemon(self._paths.daemon_socket), "tui")
        span = {"at": self._next_at, "until": self._until}
        params = {name: format_timestamp(at) for name, at in span.items() if at is not None}
        self._items = connection.stream_items("replay", {"pane": self._pane, **params})
        return connection

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

"""Serve stored history: lines, search, events, gaps, shell commands, raw bytes and rendered frames."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, closing

from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.replay import timeline
from termvisor.daemon.replay.renderer import ReplayRenderer
from termvisor.errors import MuxError, StorageError
from termvisor.log import get_logger
from termvisor.model.event import Event
from termvisor.model.ids import PaneId, ScreenId
from termvisor.model.terminal.output import Delta, Epoch, Gap, Line, LinePosition
from termvisor.model.terminal.screen import ReplayFrame, Screen
from termvisor.model.terminal.search_query import SearchQuery, SearchResult
from termvisor.recorder.segment_log import MERGE_WINDOW_NS, SegmentReader
from termvisor.search.executor import find_start_time, search

_READ_BYTES = 1 << 20
_MAX_EVENTS = 20_000
_DEFAULT_SIZE = 80, 24
_DAMAGED_FILE_HINT = "Move this file away to read the rest of the pane's bytes."
log = get_logger("recording")


class HistoryService:
    """Stored output and events. Lists are ordered oldest first."""

    def __init__(self, components: Components):
        self._store, self._clock, self._pipeline = components.store, components.clock, components.pipeline
        self._sightings = components.sightings
        self.recording = RecordingService(components)
        self.commands = components.store.commands

    async def list_lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Return lines with ``after < number < before``: the first ``limit`` if ``after`` is set, else the last."""
        return await self._pipeline.lines.read(pane, after=after, before=before, limit=limit)

    async def list_lines_since(
        self, pane: PaneId, position: LinePosition, limit: int
    ) -> tuple[list[Line], LinePosition]:
        """Return the lines that were rewritten or printed since a position, and the position after them."""
        return await self._pipeline.lines.read_since(pane, position, limit)

    def find_position(self, pane: PaneId, number: int) -> LinePosition:
        """Return the position after a line, which a client can pass to `list_lines_since`."""
        return self._pipeline.lines.find_position(pane, number)

    async def search(self, query: SearchQuery) -> SearchResult:
        now = self._clock.now()
        if (since := find_start_time(query, now)) is not None:
            await self._sightings.record_visible(since)
        return await search(self._store, query, now, self._pipeline.lines)

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
        return await self._store.events.list(after=after, pane=pane, since=since, kind=kind, limit=limit)

    async def list_gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        return await self._store.output.list_gaps(pane=pane, since=since)


class RecordingService:
    """Recorded raw output and stored screens of a pane."""

    def __init__(self, components: Components):
        self._store, self._pipeline = components.store, components.pipeline
        self._replay_server = ReplayServer(components.settings.tmux_program, components.paths.render_socket)

    async def list_epochs(self, pane: PaneId) -> list[Epoch]:
        return await self._store.output.list_epochs(pane)

    async def read_raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        """Yield the raw bytes of a pane, epoch by epoch, as stored: NOT redacted."""
        # Each epoch has its own log: offsets start at 0 again when capture restarts.
        for epoch in await self._store.output.list_epochs(pane):
            for delta in self._read_epoch(epoch):
                if since is None or delta.at >= since:
                    yield delta

    async def render_frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[ReplayFrame, None]:
        """Render the screens of a span; if the replay tmux fails, restart it and continue after the last frame.

        Raises MuxError if it fails twice at the same frame.
        """
        span, failed_at = timeline.ReplaySpan(since, until, int(interval * NS)), -1
        while True:
            try:
                async with aclosing(self._render_span(pane, span)) as frames:
                    async for frame in frames:
                        yield frame
                        span = timeline.ReplaySpan(frame.at + 1, until, span.interval)
                return
            # The replay tmux is a child process that may be killed; a viewer should not notice.
            except MuxError as error:
                log.warning("replay of pane %d starts again after an error: %s", pane, error)
                # If tmux fails twice at the same frame, it would keep failing there.
                if (span.since or 0) == failed_at:
                    raise
                failed_at = span.since or 0

    async def find_screen_at(self, pane: PaneId, at: int) -> Screen | None:
        """Return the last screen stored at or before this time; None if there is none."""
        return await self._store.sightings.find_screen_at(pane, at)

    async def find_screen(self, screen_id: ScreenId) -> Screen | None:
        return await self._store.sightings.find_screen(screen_id)

    async def _render_span(self, pane: PaneId, span: timeline.ReplaySpan) -> AsyncGenerator[ReplayFrame, None]:
        segments = await self._load_segments(pane, span)
        renderer = ReplayRenderer(self._replay_server, span, lambda segment: self._read_steps(segment, span))
        async with aclosing(renderer.render_frames(segments)) as frames:
            async for frame in frames:
                yield frame

    async def _load_segments(self, pane: PaneId, span: timeline.ReplaySpan) -> list[timeline.TimelineSegment]:
        epochs = await self._store.output.list_epochs(pane)
        first_screens = await self._store.baseline_screens.find_by_pane(pane)
        default_screen = await self._build_empty_screen(pane)
        other_events: list[timeline.PaneResized | timeline.MissingOutput] = [
            timeline.describe_gap(gap) for gap in await self._store.output.list_gaps(pane=pane)
        ]
        # The recorder logs only bytes; the times of resizes come from the pane's events.
        for event in await self._store.events.list(pane=pane, limit=_MAX_EVENTS):
            if event.kind == "pane_resized":
                other_events.append(
                    timeline.PaneResized(event.at, int(event.data["width"] or 0), int(event.data["height"] or 0))
                )
        return timeline.select_segments(
            timeline.build_segments(epochs, first_screens, default_screen), other_events, span
        )

    async def _build_empty_screen(self, pane: PaneId) -> Screen:
        """Return an empty screen of the pane's last known size."""
        stored = await self._store.panes.find(pane)
        facts = stored.facts if stored else None
        width, height = (facts.width, facts.height) if facts and facts.width else _DEFAULT_SIZE
        return Screen(pane=pane, rows=(), width=width, height=height)

    def _read_steps(
        self, segment: timeline.TimelineSegment, span: timeline.ReplaySpan
    ) -> Iterator[timeline.ReplayStep]:
        deltas = (delta for epoch in segment.epochs for delta in self._read_epoch(epoch, span.since or 0))
        return timeline.iterate_steps(deltas, segment, span)

    def _read_epoch(self, epoch: Epoch, fine_from: int | None = None) -> Iterator[Delta]:
        with closing(SegmentReader(self._pipeline.build_folder_path(epoch))) as reader:
            try:
                yield from _read_deltas(epoch, reader, fine_from)
            # Name the damaged or unreadable file, because the rest of the log is still good.
            except OSError as error:
                raise StorageError(f"{error.strerror}: {error.filename}", hint=_DAMAGED_FILE_HINT) from error


def _read_deltas(epoch: Epoch, reader: SegmentReader, fine_from: int | None) -> Iterator[Delta]:
    """Yield the bytes of one epoch that are now on disk, merged into large pieces before the time ``fine_from``."""
    # The size is read once: a pane that keeps printing must not make an export endless.
    offset, end = 0, reader.read_size()
    merge_window = MERGE_WINDOW_NS
    while offset < end and (pieces := list(reader.read_pieces(offset, _READ_BYTES, merge_window))):
        for start, data, at in pieces:
            # Before the start of a replay, only the final screen matters, so bytes are merged; after it, times matter.
            if merge_window and fine_from is not None and at >= fine_from:
                merge_window = 0
                break
            yield Delta(epoch.id, start, data, at)
            offset = start + len(data)

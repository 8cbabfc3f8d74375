"""What a pane's past was made of, as it lies on disk."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, closing

from termvisor.backends.tmux.replay_server import ReplayServer
from termvisor.clock import NS
from termvisor.daemon.components import Components
from termvisor.daemon.replay.renderer import ReplayRenderer
from termvisor.daemon.replay.timeline import (
    MissingOutput,
    PaneResized,
    ReplaySpan,
    ReplayStep,
    TimelineSegment,
    build_segments,
    describe_gap,
    iterate_steps,
    select_segments,
)
from termvisor.errors import MuxError, StorageError
from termvisor.log import get_logger
from termvisor.model.ids import PaneId, ScreenId
from termvisor.model.terminal.frame import ReplayFrame
from termvisor.model.terminal.output import Delta, Epoch
from termvisor.model.terminal.screen import Screen
from termvisor.recorder.segment_log import MERGE_WINDOW_NS, SegmentReader

_READ_BYTES = 1 << 20
_MAX_EVENTS = 20_000
_DEFAULT_SIZE = 80, 24
_DAMAGED_FILE_HINT = "The rest of the pane's bytes can be read once this file is moved away."
log = get_logger("recording")


class DaemonRecording:
    def __init__(self, components: Components):
        self._store, self._pipeline = components.store, components.pipeline
        self._replay_server = ReplayServer(components.settings.tmux_program, components.paths.render_socket)

    async def list_epochs(self, pane: PaneId) -> list[Epoch]:
        return await self._store.output.list_epochs(pane)

    async def read_raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        for epoch in await self._store.output.list_epochs(pane):
            for delta in self._read_epoch(epoch):
                if since is None or delta.at >= since:
                    yield delta

    async def render_frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[ReplayFrame, None]:
        span, failed_at = ReplaySpan(since, until, int(interval * NS)), -1
        while True:
            try:
                async with aclosing(self._render_span(pane, span)) as frames:
                    async for frame in frames:
                        yield frame
                        span = ReplaySpan(frame.at + 1, until, span.interval)
                return
            except MuxError as error:
                log.warning("pane %d is drawn anew: %s", pane, error)
                if (span.since or 0) == failed_at:
                    raise
                failed_at = span.since or 0

    async def find_screen_at(self, pane: PaneId, at: int) -> Screen | None:
        return await self._store.sightings.find_screen_at(pane, at)

    async def find_screen(self, screen_id: ScreenId) -> Screen | None:
        return await self._store.sightings.find_screen(screen_id)

    async def _render_span(self, pane: PaneId, span: ReplaySpan) -> AsyncGenerator[ReplayFrame, None]:
        found = await self._load_segments(pane, span)
        drawing = ReplayRenderer(self._replay_server, span, lambda stretch: self._read_steps(stretch, span))
        async with aclosing(drawing.render_frames(found)) as frames:
            async for frame in frames:
                yield frame

    async def _load_segments(self, pane: PaneId, span: ReplaySpan) -> list[TimelineSegment]:
        epochs, firsts = (
            await self._store.output.list_epochs(pane),
            await self._store.baseline_screens.find_by_pane(pane),
        )
        others: list[PaneResized | MissingOutput] = [
            describe_gap(gap) for gap in await self._store.output.list_gaps(pane=pane)
        ]
        for event in await self._store.events.list(pane=pane, limit=_MAX_EVENTS):
            if event.kind == "pane_resized":
                others.append(PaneResized(event.at, int(event.data["width"] or 0), int(event.data["height"] or 0)))
        return select_segments(build_segments(epochs, firsts, await self._build_empty_screen(pane)), others, span)

    async def _build_empty_screen(self, pane: PaneId) -> Screen:
        """An empty screen of the size that the pane had last."""
        facts = next(
            (one.facts for one in await self._store.panes.list_panes(include_gone=True) if one.id == pane), None
        )
        width, height = (facts.width, facts.height) if facts and facts.width else _DEFAULT_SIZE
        return Screen(pane=pane, rows=(), width=width, height=height)

    def _read_steps(self, segment: TimelineSegment, span: ReplaySpan) -> Iterator[ReplayStep]:
        fine = span.since or 0
        return iterate_steps(
            (delta for epoch in segment.epochs for delta in self._read_epoch(epoch, fine)), segment, span
        )

    def _read_epoch(self, epoch: Epoch, fine_from: int | None = None) -> Iterator[Delta]:
        with closing(SegmentReader(self._pipeline.build_folder_path(epoch))) as reader:
            try:
                yield from _read_deltas(epoch, reader, fine_from)
            except OSError as error:
                raise StorageError(f"{error.strerror}: {error.filename}", hint=_DAMAGED_FILE_HINT) from error


def _read_deltas(epoch: Epoch, reader: SegmentReader, fine_from: int | None) -> Iterator[Delta]:
    """Everything that is on disk now of one epoch; from the time ``fine_from`` on piece by piece as it was read."""
    at, end = 0, reader.read_size()
    within = MERGE_WINDOW_NS
    while at < end and (pieces := list(reader.read_pieces(at, _READ_BYTES, within))):
        for offset, data, when in pieces:
            if within and fine_from is not None and when >= fine_from:
                within = 0
                break
            yield Delta(epoch.id, offset, data, when)
            at = offset + len(data)

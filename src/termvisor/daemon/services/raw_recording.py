"""What a pane's past was made of, as it lies on disk."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing, closing

from termvisor.backends.tmux.replay_server import Studio
from termvisor.clock import NS
from termvisor.daemon.components import Parts
from termvisor.daemon.replay.renderer import Drawing
from termvisor.daemon.replay.timeline import Missing, Resized, Span, Step, Stretch, chosen, gap_note, steps, stretches
from termvisor.errors import MuxError, StorageError
from termvisor.log import logger
from termvisor.model.ids import PaneId, ScreenId
from termvisor.model.terminal.frame import Frame
from termvisor.model.terminal.output import Delta, Epoch
from termvisor.model.terminal.screen import Screen
from termvisor.recorder.segment_log import TOGETHER, SegmentReader

_PIECE = 1 << 20
_EVENTS = 20_000
_USUAL = 80, 24
_WITHOUT_IT = "The rest of the pane's bytes can be read once this file is moved away."
log = logger("recording")


class LiveRecording:
    def __init__(self, parts: Parts):
        self._store, self._pipeline = parts.store, parts.pipeline
        self._studio = Studio(parts.settings.tmux_program, parts.places.render_socket)

    async def epochs(self, pane: PaneId) -> list[Epoch]:
        return await self._store.output.epochs(pane)

    async def raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        for epoch in await self._store.output.epochs(pane):
            for delta in self._kept(epoch):
                if since is None or delta.at >= since:
                    yield delta

    async def frames(
        self, pane: PaneId, *, since: int | None = None, until: int | None = None, interval: float = 1 / 30
    ) -> AsyncGenerator[Frame, None]:
        span, failed_at = Span(since, until, int(interval * NS)), -1
        while True:
            try:
                async with aclosing(self._drawn(pane, span)) as frames:
                    async for frame in frames:
                        yield frame
                        span = Span(frame.at + 1, until, span.interval)
                return
            except MuxError as error:
                log.warning("pane %d is drawn anew: %s", pane, error)
                if (span.since or 0) == failed_at:
                    raise
                failed_at = span.since or 0

    async def screen_at(self, pane: PaneId, at: int) -> Screen | None:
        return await self._store.sightings.screen_at(pane, at)

    async def screen(self, number: ScreenId) -> Screen | None:
        return await self._store.sightings.screen(number)

    async def _drawn(self, pane: PaneId, span: Span) -> AsyncGenerator[Frame, None]:
        found = await self._stretches(pane, span)
        drawing = Drawing(self._studio, span, lambda stretch: self._steps(stretch, span))
        async with aclosing(drawing.frames(found)) as frames:
            async for frame in frames:
                yield frame

    async def _stretches(self, pane: PaneId, span: Span) -> list[Stretch]:
        epochs, firsts = await self._store.output.epochs(pane), await self._store.first_screens.of(pane)
        others: list[Resized | Missing] = [gap_note(gap) for gap in await self._store.output.gaps(pane=pane)]
        for event in await self._store.events.list(pane=pane, limit=_EVENTS):
            if event.kind == "pane_resized":
                others.append(Resized(event.at, int(event.data["width"] or 0), int(event.data["height"] or 0)))
        return chosen(stretches(epochs, firsts, await self._usual(pane)), others, span)

    async def _usual(self, pane: PaneId) -> Screen:
        """An empty screen of the size that the pane had last."""
        facts = next((one.facts for one in await self._store.panes.all(gone=True) if one.id == pane), None)
        width, height = (facts.width, facts.height) if facts and facts.width else _USUAL
        return Screen(pane=pane, rows=(), width=width, height=height)

    def _steps(self, stretch: Stretch, span: Span) -> Iterator[Step]:
        fine = span.since or 0
        return steps((delta for epoch in stretch.epochs for delta in self._kept(epoch, fine)), stretch, span)

    def _kept(self, epoch: Epoch, fine_from: int | None = None) -> Iterator[Delta]:
        with closing(SegmentReader(self._pipeline.folder(epoch))) as reader:
            try:
                yield from _deltas(epoch, reader, fine_from)
            except OSError as error:
                raise StorageError(f"{error.strerror}: {error.filename}", hint=_WITHOUT_IT) from error


def _deltas(epoch: Epoch, reader: SegmentReader, fine_from: int | None) -> Iterator[Delta]:
    """Everything that is on disk now of one epoch; from the time ``fine_from`` on piece by piece as it was read."""
    at, end = 0, reader.size()
    within = TOGETHER
    while at < end and (pieces := list(reader.pieces(at, _PIECE, within))):
        for offset, data, when in pieces:
            if within and fine_from is not None and when >= fine_from:
                within = 0
                break
            yield Delta(epoch.id, offset, data, when)
            at = offset + len(data)

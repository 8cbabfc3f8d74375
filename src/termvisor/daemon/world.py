"""The live World that operations see: the watched fleet, the stored history, the news of both."""

import os
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager, closing

from msgspec import Struct

from termvisor import __version__
from termvisor.bus import Subscription
from termvisor.clock import Clock
from termvisor.daemon.cost import Cost
from termvisor.errors import MuxError, NotFound
from termvisor.ingest.chronicle import Chronicle
from termvisor.ingest.lookout import Lookout
from termvisor.ingest.recording import RecorderLink
from termvisor.ingest.watch import ServerWatch
from termvisor.model.event import Event
from termvisor.model.health import Health
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.output import Delta, Epoch, Gap, Line
from termvisor.model.pane import PaneView
from termvisor.model.question import Found, Question
from termvisor.model.screen import Screen
from termvisor.pipeline import Pipeline, activity_of
from termvisor.recorder.format import SegmentReader
from termvisor.redact import Redactor
from termvisor.search.find import search
from termvisor.settings import Places, Settings
from termvisor.store import Store, StoredPane

_PIECE = 1 << 20
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])|[\x0e\x0f]")


class Parts(Struct):
    """What the daemon is made of."""

    store: Store
    pipeline: Pipeline
    chronicle: Chronicle
    lookout: Lookout
    recorder: RecorderLink
    clock: Clock
    places: Places
    settings: Settings


class LiveFleet:
    def __init__(self, parts: Parts):
        self._parts = parts

    async def panes(self, *, gone: bool = False) -> list[PaneView]:
        await self._parts.lookout.has_looked.wait()
        return [self._view(pane) for pane in await self._parts.store.panes.all(gone=gone)]

    def pending(self, pane: PaneId) -> str:
        text = self._parts.pipeline.current.get(pane)
        return text.pending if text else ""

    async def screen(self, pane: PaneId, *, escapes: bool = False) -> Screen:
        watch, mux_id = self._place_of(pane)
        seen = await watch.server.capture(mux_id, escapes=escapes)
        rows = coloured(seen.rows) if escapes else Redactor().lines([row.rstrip() for row in seen.rows])
        return Screen(
            pane=pane,
            rows=tuple(rows),
            width=seen.width,
            height=seen.height,
            cursor_x=seen.cursor_x,
            cursor_y=seen.cursor_y,
            alternate=seen.alternate,
            at=self._parts.clock.now(),
        )

    async def settle(self) -> None:
        await self._parts.lookout.has_looked.wait()  # before that, the epochs of an earlier daemon are not open yet
        await self._parts.pipeline.settle()

    def _place_of(self, pane: PaneId) -> tuple[ServerWatch, MuxPaneId]:
        for watch in self._parts.lookout.watches.values():
            for mux_id, known in watch.known.items():
                if known.id == pane:
                    return watch, mux_id
        raise NotFound(f"pane {pane} no longer exists", hint="`visor get-text` still reads what it printed.")

    def _view(self, pane: StoredPane) -> PaneView:
        parts = self._parts
        meter = parts.pipeline.meters.get(pane.id)
        text = parts.pipeline.current.get(pane.id)
        watch = parts.lookout.watches.get(pane.instance.server.socket)
        is_here = pane.gone_at is None
        return PaneView(
            id=pane.id,
            instance=pane.instance,
            facts=pane.facts,
            activity=activity_of(text),
            heard_by=watch.plane_of(pane.instance.mux_id) if watch and is_here else "none",
            first_seen_at=pane.first_seen_at,
            last_output_at=meter.last_at if meter and meter.last_at else pane.last_output_at,
            gone_at=pane.gone_at,
            bytes_heard=pane.bytes_heard + (text.read_to - text.stored_to if text else 0),
            bytes_per_second=meter.rate(parts.clock.monotonic()) if meter and is_here else 0.0,
            gaps=pane.gaps,
            lines=pane.lines,
        )


def coloured(rows: Sequence[str]) -> list[str]:
    """Rows with their colours; one that holds a secret is given without them, because escapes may stand within it."""
    plain = [_ESCAPE.sub("", row).rstrip() for row in rows]
    safe = Redactor().lines(plain)
    return [row if one == other else other for row, one, other in zip(rows, plain, safe, strict=True)]


class LiveHistory:
    def __init__(self, parts: Parts):
        self._store, self._pipeline, self._clock = parts.store, parts.pipeline, parts.clock

    async def lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        return await self._store.output.lines(pane, after=after, before=before, limit=limit)

    async def search(self, question: Question) -> Found:
        return await search(self._store, question, self._clock.now())

    async def events(
        self, *, after: int | None = None, pane: PaneId | None = None, since: int | None = None, limit: int = 20
    ) -> list[Event]:
        return await self._store.events.list(after=after, pane=pane, since=since, limit=limit)

    async def gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        return await self._store.output.gaps(pane=pane, since=since)

    async def epochs(self, pane: PaneId) -> list[Epoch]:
        return await self._store.output.epochs(pane)

    async def raw(self, pane: PaneId, *, since: int | None = None) -> AsyncIterator[Delta]:
        for epoch in await self._store.output.epochs(pane):
            with closing(SegmentReader(self._pipeline.folder(epoch))) as reader:
                for delta in _deltas(epoch, reader):
                    if since is None or delta.at >= since:
                        yield delta


def _deltas(epoch: Epoch, reader: SegmentReader) -> Iterator[Delta]:
    """Everything that is on disk now of one epoch."""
    at, end = 0, reader.size()
    while at < end and (pieces := list(reader.pieces(at, _PIECE))):
        for offset, data, when in pieces:
            yield Delta(epoch.id, offset, data, when)
            at = offset + len(data)


class LiveNews:
    def __init__(self, parts: Parts):
        self._parts = parts

    def events(self) -> AbstractContextManager[Subscription[Event]]:
        return self._parts.chronicle.news.subscribe()

    def output(self) -> AbstractContextManager[Subscription[PaneId]]:
        return self._parts.pipeline.news.subscribe()


class LiveWorld:
    def __init__(self, parts: Parts):
        self._parts = parts
        self._started_at = parts.clock.now()
        self._costs = Cost(), Cost()
        self.fleet, self.history, self.news = LiveFleet(parts), LiveHistory(parts), LiveNews(parts)
        self.clock = parts.clock
        self.configuration = parts.places, parts.settings
        self.keeps_recorder = False
        """Whether the recorder goes on when this world ends, for a daemon that comes after."""

    async def health(self) -> Health:
        parts, lookout = self._parts, self._parts.lookout
        db_bytes, wal_pages = await parts.store.sizes()
        panes = await parts.store.panes.all()
        now = parts.clock.monotonic()
        daemon = self._costs[0].of(os.getpid(), now)
        if daemon is None:
            raise MuxError("this process cannot read its own cost")
        return Health(
            version=__version__,
            started_at=self._started_at,
            servers=tuple(watch.health for watch in lookout.watches.values() if watch.has_looked.is_set()),
            panes_tracked=len(panes),
            ingest_lag_max=parts.pipeline.lag_max,
            ingest_lag_avg=parts.pipeline.lag_average,
            ingest_backlog_bytes=parts.pipeline.backlog,
            queue_depth=parts.pipeline.queue_depth,
            db_writable=parts.store.writable(),
            db_bytes=db_bytes,
            wal_pages=wal_pages,
            raw_bytes=_folder_bytes(parts.places.raw_dir),
            gaps=sum(pane.gaps for pane in panes),
            restarts={"recorder": lookout.recorder_restarts, "watch": lookout.watch_restarts},
            corrections=sum(watch.corrections for watch in lookout.watches.values()),
            forks=lookout.forks,
            daemon=daemon,
            recorder=self._costs[1].of(parts.recorder.pid, now) if parts.recorder.pid else None,
            alerts=(*lookout.alerts.values(), *filter(None, [parts.pipeline.trouble])),
        )


def _folder_bytes(folder: str) -> int:
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(f"{where}/{name}").st_size
            except FileNotFoundError:
                continue
    return total

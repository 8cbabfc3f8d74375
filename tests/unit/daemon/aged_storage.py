"""A real store and raw log with old data in a private folder, for tests of maintenance."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from termvisor.capture.raw_log import list_segments
from termvisor.clock import NS, SystemClock
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.output import TextBlock
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.settings import Paths, Settings, make_instance_folders
from termvisor.store import EpochUpdate, Store

DAY_NS = 86_400 * NS
SERVER = ServerInstance(TargetName("local"), "/tmp/tmux-1/default", 100, 5000)


class AgedStorage:
    """``settings`` can be changed at any time with `set_settings`."""

    def __init__(self, store: Store, paths: Paths):
        self.store, self.places, self.clock = store, paths, SystemClock()
        self.settings = Settings()

    def set_settings(self, **changes: object) -> None:
        self.settings = msgspec.structs.replace(self.settings, **changes)

    async def add_pane(self, mux_id: str = "%1") -> PaneId:
        facts = PaneFacts(mux_id=MuxPaneId(mux_id), pid=7)
        found, _ = await self.store.panes.find_or_add(PaneInstance(SERVER, facts.mux_id), facts, at=10)
        return found

    async def print_epoch(self, pane: PaneId, *segments: bytes, days_ago: float, is_open: bool = False) -> EpochId:
        """Add an epoch whose bytes were printed and stored as text ``days_ago``."""
        at = self.clock.now() - int(days_ago * DAY_NS)
        epoch = await self.store.output.open_epoch(pane, "pipe", at)
        folder = f"{self.places.raw_dir}/{pane}/{epoch}"
        writer = SegmentWriter(folder, 1)
        for data in segments:
            writer.append(data, at)
        writer.close()
        for name in os.listdir(folder):
            os.utime(f"{folder}/{name}", ns=(at, at))
        size = sum(map(len, segments))
        lines = tuple(b"".join(segments).decode().splitlines())
        block = TextBlock(epoch=epoch, start=0, end=size, at=at, until=at, lines=lines)
        await self.store.output.commit([EpochUpdate(pane=pane, epoch=epoch, committed=size, blocks=(block,))])
        await self.store.events.add([Event(at=at, kind="pane_appeared", pane=pane)])
        if not is_open:
            await self.store.output.close_epoch(epoch, "pane_exited", at, size)
        return epoch

    def list_segments(self) -> list[tuple[int, int]]:
        """Return epoch and start of every segment on disk."""
        return [(segment.epoch, segment.start) for segment in list_segments(self.places.raw_dir)]

    async def read_texts(self, pane: PaneId) -> list[str]:
        return [line.text for line in await self.store.output.read_lines(pane)]


@asynccontextmanager
async def open_storage(folder: str) -> AsyncIterator[AgedStorage]:
    places = Paths(f"{folder}/config", f"{folder}/data", f"{folder}/run")
    make_instance_folders(places)
    store = await Store.open(places.database, SystemClock())
    try:
        yield AgedStorage(store, places)
    finally:
        await store.close()

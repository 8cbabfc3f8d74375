"""What upkeep costs those who write and read meanwhile, and how fast raw segments are sealed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from termvisor.capture.sealing import Wish, seal
from termvisor.clock import NS, SystemClock
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.redaction.raw_bytes import mask
from termvisor.store import Store
from termvisor.testing.tmux import short_folder
from tests.bench.chatter import words
from tests.bench.figure import Figure, percentile
from tests.bench.find import asked, fill, show

_SEGMENT = 8 << 20


def slices(lines: int = 300_000) -> list[Figure]:
    with short_folder() as folder:
        return asyncio.run(_deleted(folder, lines)) + _sealed(folder)


async def _deleted(folder: str, lines: int) -> list[Figure]:
    clock = SystemClock()
    store = await Store.open(f"{folder}/v.db", clock)
    await fill(store, lines)
    await show(store, lines // 10)
    reads: list[float] = []
    reading = asyncio.ensure_future(_read(store, clock, reads))
    writer = Writer(store)
    deleting = await writer.during(store.keeping.delete_older(lines // 3200 * 2 // 3 * NS))
    merging = await writer.during(store.keeping.merge_indexes())
    giving = await writer.during(store.keeping.give_back())
    reading.cancel()
    await store.close()
    return [
        Figure("deleting old rows: the writer's time a slice, p95", deleting, 20, "ms"),
        Figure("merging the index: the same", merging, 20, "ms"),
        Figure("giving pages back: the same", giving, 20, "ms"),
        Figure("a search meanwhile, p99", 1000 * percentile(reads, 0.99), 50, "ms"),
    ]


class Writer:
    """Measures how long each write holds the writer's thread."""

    def __init__(self, store: Store):
        self._times: list[float] = []
        self._transaction = store._db._transaction
        store._db._transaction = self._measured

    def _measured(self, fn: Callable[[Any], Any]) -> Any:
        began = time.thread_time()
        try:
            return self._transaction(fn)
        finally:
            self._times.append(time.thread_time() - began)

    async def during(self, steps: AsyncIterator[object]) -> float:
        """Milliseconds of nineteen in twenty of the writes that this work takes."""
        self._times.clear()
        async for _ in steps:
            await asyncio.sleep(0.005)
        return 1000 * percentile(self._times, 0.95)


async def _read(store: Store, clock: SystemClock, times: list[float]) -> None:
    while True:
        times.append(await asked(store, "error", "recency", clock))
        await asyncio.sleep(0.01)


def _sealed(folder: str) -> list[Figure]:
    writer, turn = SegmentWriter(f"{folder}/1", _SEGMENT), 0
    while writer.offset <= _SEGMENT:
        turn += 1
        writer.append(words(turn, turn % 100), turn)
    writer.close()
    mask(b"warm up: the patterns are compiled once in a process")
    began = time.process_time()
    seal(f"{folder}/1", 0, Wish())
    rate = _SEGMENT / 1e6 / (time.process_time() - began)
    return [Figure("masking and packing a raw segment", rate, 5, "MB/s of one core", is_floor=True)]

"""Measure what maintenance costs concurrent writes and searches, and how fast segments are sealed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from termvisor.capture.sealing import SealOptions, seal_segment
from termvisor.clock import NS, SystemClock
from termvisor.recorder.segment_log import SegmentWriter
from termvisor.redaction.raw_bytes import mask_bytes
from termvisor.store import Store
from termvisor.testing.private_tmux import make_short_folder
from tests.bench.figure import BudgetedFigure, compute_percentile
from tests.bench.pane_writer import build_output
from tests.bench.search_speed import fill_lines, fill_sightings, time_search

_SEGMENT_BYTES = 8 << 20


def measure_maintenance(lines: int = 300_000) -> list[BudgetedFigure]:
    with make_short_folder() as folder:
        return asyncio.run(_measure_deletion(folder, lines)) + _measure_sealing(folder)


async def _measure_deletion(folder: str, lines: int) -> list[BudgetedFigure]:
    clock = SystemClock()
    store = await Store.open(f"{folder}/v.db", clock)
    await fill_lines(store, lines)
    await fill_sightings(store, lines // 10)
    reads: list[float] = []
    reading = asyncio.ensure_future(_search_repeatedly(store, clock, reads))
    writer = WriteTimer(store)
    deleting = await writer.measure_during(store.maintenance.delete_older_rows(lines // 3200 * 2 // 3 * NS))
    merging = await writer.measure_during(store.maintenance.merge_indexes())
    giving = await writer.measure_during(store.maintenance.release_free_pages())
    reading.cancel()
    await store.close()
    return [
        BudgetedFigure("deleting old rows: the writer's time a slice, p95", deleting, 20, "ms"),
        BudgetedFigure("merging the index: the same", merging, 20, "ms"),
        BudgetedFigure("giving pages back: the same", giving, 20, "ms"),
        BudgetedFigure("a search meanwhile, p99", 1000 * compute_percentile(reads, 0.99), 50, "ms"),
    ]


class WriteTimer:
    """Measure how long each write occupies the writer thread."""

    def __init__(self, store: Store):
        self._times: list[float] = []
        self._transaction = store._db._run_transaction
        store._db._run_transaction = self._run_measured

    def _run_measured(self, fn: Callable[[Any], Any]) -> Any:
        began = time.thread_time()
        try:
            return self._transaction(fn)
        finally:
            self._times.append(time.thread_time() - began)

    async def measure_during(self, steps: AsyncIterator[object]) -> float:
        """Return the 95th percentile of this work's writes in milliseconds."""
        self._times.clear()
        async for _ in steps:
            await asyncio.sleep(0.005)
        return 1000 * compute_percentile(self._times, 0.95)


async def _search_repeatedly(store: Store, clock: SystemClock, times: list[float]) -> None:
    while True:
        times.append(await time_search(store, "error", "recency", clock))
        await asyncio.sleep(0.01)


def _measure_sealing(folder: str) -> list[BudgetedFigure]:
    writer, turn = SegmentWriter(f"{folder}/1", _SEGMENT_BYTES), 0
    while writer.offset <= _SEGMENT_BYTES:
        turn += 1
        writer.append(build_output(turn, turn % 100), turn)
    writer.close()
    mask_bytes(b"warm up: the patterns are compiled once in a process")
    began = time.process_time()
    seal_segment(f"{folder}/1", 0, SealOptions())
    rate = _SEGMENT_BYTES / 1e6 / (time.process_time() - began)
    return [BudgetedFigure("masking and packing a raw segment", rate, 5, "MB/s of one core", is_floor=True)]

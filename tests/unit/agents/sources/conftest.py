"""A source watcher on real files in a private folder that collects the records."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.sources.hook_spool import HookSpool
from termvisor.agents.sources.record_delivery import NOT_SCANNED_YET
from termvisor.agents.sources.source_watcher import SourceWatcher
from termvisor.clock import SystemClock
from tests.unit.wait_until import wait_until


class WatcherScene:
    """``storage_errors`` are raised, one per call, instead of storing the records."""

    def __init__(self) -> None:
        self.records: list[SourceRecord] = []
        self.storage_errors: list[Exception] = []
        self.clock = SystemClock()
        self.watcher = self.build_watcher()
        self.task: asyncio.Task[None] | None = None

    def build_watcher(self, spool: HookSpool | None = None) -> SourceWatcher:
        self.watcher = SourceWatcher(self.store_records, self.clock, spool)
        return self.watcher

    def run(self) -> None:
        self.task = asyncio.ensure_future(self.watcher.run())

    async def close(self) -> None:
        if self.task:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
            self.task = None

    async def store_records(self, records: list[SourceRecord]) -> None:
        if self.storage_errors:
            raise self.storage_errors.pop()
        self.records += records

    @property
    def texts(self) -> list[str]:
        return [record.text for record in self.records]

    async def wait_for_texts(self, *texts: str) -> None:
        """Wait until exactly these texts were delivered."""
        await wait_until(lambda: len(self.records) >= len(texts))
        assert self.texts == list(texts)

    async def wait_for_status(self, *statuses: str) -> None:
        """Wait until the sources have these statuses, after a scan of each."""
        health = self.watcher.list_health
        await wait_until(lambda: all(one.detail != NOT_SCANNED_YET for one in health()))
        await wait_until(lambda: [one.status for one in health()] == list(statuses))


@pytest.fixture
async def watcher_scene() -> AsyncIterator[WatcherScene]:
    made = WatcherScene()
    yield made
    await made.close()

"""Somebody who listens to real files in a private folder, and keeps what is heard."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.sources.hook_spool import Spool
from termvisor.agents.sources.reader_health import NOT_YET
from termvisor.agents.sources.source_watcher import Listening
from termvisor.clock import SystemClock
from tests.unit.waiting import until


class Desk:
    """``refusals`` are raised, one a call, in place of storing what was heard."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.refusals: list[Exception] = []
        self.clock = SystemClock()
        self.listening = self.open()
        self.task: asyncio.Task[None] | None = None

    def open(self, spool: Spool | None = None) -> Listening:
        self.listening = Listening(self.heard, self.clock, spool)
        return self.listening

    def run(self) -> None:
        self.task = asyncio.ensure_future(self.listening.run())

    async def close(self) -> None:
        if self.task:
            self.task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.task
            self.task = None

    async def heard(self, records: list[Record]) -> None:
        if self.refusals:
            raise self.refusals.pop()
        self.records += records

    @property
    def texts(self) -> list[str]:
        return [record.text for record in self.records]

    async def read(self, *texts: str) -> None:
        """Wait until exactly these texts were heard so far."""
        await until(lambda: len(self.records) >= len(texts))
        assert self.texts == list(texts)

    async def status(self, *statuses: str) -> None:
        """Wait until the sources do so, after a look at each."""
        health = self.listening.health
        await until(lambda: all(one.detail != NOT_YET for one in health()))
        await until(lambda: [one.status for one in health()] == list(statuses))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk()
    yield made
    await made.close()

"""Memory is trimmed after output was processed, and only then."""

import asyncio
from contextlib import suppress

import apsw
import pytest

from termvisor.clock import SystemClock
from termvisor.daemon.maintenance.memory_trim import MemoryTrimmer
from termvisor.store import Store


class CountingClock(SystemClock):
    """Each wait lasts until the test lets it end."""

    def __init__(self) -> None:
        self.waits = 0
        self._turn = asyncio.Semaphore(0)
        self._waits = asyncio.Condition()

    async def sleep(self, seconds: float) -> None:
        async with self._waits:
            self.waits += 1
            self._waits.notify_all()
        await self._turn.acquire()

    async def round(self) -> None:
        """Let one wait end, and come back at the next one."""
        async with self._waits:
            reached = self.waits + 1
            self._turn.release()
            await self._waits.wait_for(lambda: self.waits >= reached)


@pytest.fixture
async def heard():
    return [0]


@pytest.fixture
async def clock(store, heard):
    """Of somebody who rests already."""
    clock = CountingClock()
    task = asyncio.ensure_future(MemoryTrimmer(store, clock, lambda: heard[0]).run())
    await asyncio.sleep(0)
    yield clock
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def used(store: Store) -> int:
    """Bytes that the database holds in memory after some work."""
    await store._db.write(lambda connection: connection.execute("CREATE TABLE IF NOT EXISTS heavy (data)").get)
    await store._db.write(lambda c: c.executemany("INSERT INTO heavy VALUES (?)", [(bytes(9000),)] * 300).get)
    return apsw.memory_used()


async def test_after_output_the_database_releases_its_pages(store, clock, heard):
    before = await used(store)
    heard[0] = 100
    await clock.round()
    assert apsw.memory_used() < before - (1 << 20)


async def test_without_output_nothing_is_trimmed(store, clock):
    await clock.round()
    before = await used(store)
    await clock.round()
    assert apsw.memory_used() >= before


async def test_a_closed_database_is_ignored(store, clock, heard):
    await store.close()
    heard[0] = 100
    await clock.round()

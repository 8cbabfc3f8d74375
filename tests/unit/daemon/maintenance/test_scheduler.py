"""Maintenance rounds are recorded, errors become alerts, and snapshots are written when due."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress

import apsw
import pytest

from termvisor.clock import SystemClock
from termvisor.daemon.maintenance.retention_clock import RetentionClock
from termvisor.daemon.maintenance.scheduler import MaintenanceScheduler, MemoryTrimmer
from termvisor.errors import Conflict
from termvisor.store import Store
from termvisor.store.maintenance.backup import read_file_contents
from termvisor.testing.fake_clock import FakeClock
from tests.unit.daemon.aged_storage import AgedStorage, open_storage


@pytest.fixture
async def storage(tmp_path) -> AsyncIterator[AgedStorage]:
    async with open_storage(str(tmp_path)) as opened:
        yield opened


def build_scheduler(storage: AgedStorage, clock: FakeClock | None = None) -> MaintenanceScheduler:
    own_clock = clock or storage.clock
    retention_clock = RetentionClock(storage.store, own_clock, "boot")
    return MaintenanceScheduler(storage.store, storage.places, own_clock, lambda: storage.settings, retention_clock)


async def list_recorded_operations(storage: AgedStorage) -> list[str]:
    return [run.operation for run in await storage.store.maintenance.list_runs()]


async def test_a_round_deletes_seals_and_is_recorded(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    await storage.print_epoch(pane, b"old\n", days_ago=31)
    new = await storage.print_epoch(pane, b"new\n", days_ago=1)
    done = [step.operation async for step in build_scheduler(storage).run_round() if step.is_done]
    assert done == ["delete_raw", "delete_rows", "seal", "forget_panes"]
    assert await list_recorded_operations(storage) == ["seal", "delete_rows", "delete_raw"]
    assert storage.list_segments() == [(new, 0)]


async def test_a_round_without_work_is_not_recorded(storage: AgedStorage) -> None:
    async for _ in build_scheduler(storage).run_round():
        pass
    assert await list_recorded_operations(storage) == []


async def test_a_preview_reports_what_a_round_would_do(storage: AgedStorage) -> None:
    await storage.print_epoch(await storage.add_pane(), b"old\n", days_ago=31)
    rows_by_operation = {step.operation: step.rows async for step in build_scheduler(storage).preview_round()}
    assert rows_by_operation == {"delete_raw": 1, "delete_rows": 2, "seal": 1}
    assert await list_recorded_operations(storage) == []


async def test_rounds_follow_the_current_interval_setting(storage: AgedStorage, tmp_path) -> None:
    clock = FakeClock()
    storage.set_settings(maintenance_interval=10.0)
    one = build_scheduler(storage, clock)
    os.rename(storage.places.raw_dir, f"{tmp_path}/away")
    os.symlink("loop", storage.places.raw_dir)
    os.symlink(storage.places.raw_dir, f"{storage.places.data_dir}/loop")
    running = asyncio.ensure_future(one.run())
    await clock.wait_until_asleep()
    await clock.advance(10)
    await asyncio.wait_for(clock.wait_until_asleep(), 10)
    running.cancel()
    assert "Too many levels" in one.problem


async def test_vacuum_shrinks_the_file_and_reports_progress(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    for _ in range(40):
        await storage.print_epoch(pane, os.urandom(10_000).hex().encode() + b"\n", days_ago=31)
    await storage.store.checkpoint()
    before = os.path.getsize(storage.places.database)
    async for _, _ in storage.store.maintenance.delete_older_rows(storage.clock.now()):
        pass
    steps = [step async for step in build_scheduler(storage).vacuum()]
    assert steps[-1].rows > 50
    assert "pages released" in steps[-1].detail
    assert os.path.getsize(storage.places.database) < before / 2


async def test_a_damaged_index_is_rebuilt(storage: AgedStorage) -> None:
    await storage.print_epoch(await storage.add_pane(), b"hello\n", days_ago=1)
    await storage.store._db.write(
        lambda connection: connection.execute("INSERT INTO block_fts (block_fts) VALUES ('delete-all')").fetchall()
    )
    assert (await build_scheduler(storage).check_database(thorough=False)).wrong
    steps = [step async for step in build_scheduler(storage).reindex()]
    assert [step.is_done for step in steps] == [False, False, False, True]
    assert (await build_scheduler(storage).check_database(thorough=True)).wrong == ""


async def test_an_index_of_an_older_version_is_upgraded_at_the_start(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    await storage.print_epoch(pane, "日本語\n".encode(), days_ago=1)
    old = (
        "INSERT INTO block_fts (block_fts, rowid, text, pane) SELECT 'delete', id, text, pane FROM block_indexed;"
        "DELETE FROM block_rewritten; INSERT INTO block_fts (rowid, text, pane) SELECT id, text, pane FROM block;"
        "UPDATE index_upgrade SET last_id = 1"
    )
    await storage.store._db.write(lambda connection: connection.execute(old).fetchall())
    clock = FakeClock()
    running = asyncio.ensure_future(build_scheduler(storage, clock).run())
    await asyncio.wait_for(clock.wait_until_asleep(), 10)
    found = await storage.store._db.read(
        lambda connection: connection.execute("SELECT rowid FROM block_fts('text : \"本 語\"')").fetchall()
    )
    running.cancel()
    assert found == [(1,)]
    assert (await build_scheduler(storage).check_database(thorough=True)).wrong == ""


async def test_a_backup_reports_its_contents_and_never_replaces_a_file(storage: AgedStorage, tmp_path) -> None:
    await storage.print_epoch(await storage.add_pane(), b"text\n", days_ago=1)
    path = str(tmp_path / "copy.db")
    made = await build_scheduler(storage).backup_database(path)
    assert (made.path, made.bytes, made.contents.lines) == (path, os.path.getsize(path), 1)
    with pytest.raises(Conflict):
        await build_scheduler(storage).backup_database(path)
    assert await list_recorded_operations(storage) == ["backup"]


async def test_the_database_is_checked(storage: AgedStorage) -> None:
    found = await build_scheduler(storage).check_database(thorough=True)
    assert (found.path, found.is_thorough, found.wrong) == (storage.places.database, True, "")


async def test_a_snapshot_is_written_when_due_and_at_shutdown(storage: AgedStorage) -> None:
    clock = FakeClock()
    one = build_scheduler(storage, clock)
    running = asyncio.ensure_future(one.run_snapshots())
    await clock.wait_until_asleep()
    await clock.advance(60)
    await clock.wait_until_asleep()
    assert not os.path.exists(storage.places.snapshot_file)
    storage.set_settings(snapshot_interval=1.0)
    await clock.advance(60)
    await asyncio.wait_for(clock.wait_until_asleep(), 10)
    running.cancel()
    assert read_file_contents(storage.places.snapshot_file).panes == 0
    await storage.add_pane()
    await one.make_final_snapshot()
    assert read_file_contents(storage.places.snapshot_file).panes == 1
    assert await list_recorded_operations(storage) == ["snapshot", "snapshot"]


async def test_without_the_setting_no_snapshot_is_written_at_shutdown(storage: AgedStorage) -> None:
    await build_scheduler(storage).make_final_snapshot()
    assert not os.path.exists(storage.places.snapshot_file)


class CountingClock(SystemClock):
    """A clock whose sleeps last until the test ends them."""

    def __init__(self) -> None:
        self.waits = 0
        self._turn = asyncio.Semaphore(0)
        self._waits = asyncio.Condition()

    async def sleep(self, seconds: float) -> None:
        async with self._waits:
            self.waits += 1
            self._waits.notify_all()
        await self._turn.acquire()

    async def finish_wait(self) -> None:
        """End one sleep and wait for the next one."""
        async with self._waits:
            reached = self.waits + 1
            self._turn.release()
            await self._waits.wait_for(lambda: self.waits >= reached)


@pytest.fixture
async def output_bytes():
    return [0]


@pytest.fixture
async def clock(store, output_bytes):
    """The clock of a memory trimmer that sleeps already."""
    clock = CountingClock()
    task = asyncio.ensure_future(MemoryTrimmer(store, clock, lambda: output_bytes[0]).run())
    await asyncio.sleep(0)
    yield clock
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def measure_memory(store: Store) -> int:
    """Return the bytes that the database holds in memory after some writes."""
    await store._db.write(lambda connection: connection.execute("CREATE TABLE IF NOT EXISTS heavy (data)").get)
    await store._db.write(lambda c: c.executemany("INSERT INTO heavy VALUES (?)", [(bytes(9000),)] * 300).get)
    return apsw.memory_used()


async def test_after_output_the_database_releases_its_pages(store, clock, output_bytes):
    before = await measure_memory(store)
    output_bytes[0] = 100
    await clock.finish_wait()
    assert apsw.memory_used() < before - (1 << 20)


async def test_without_output_nothing_is_trimmed(store, clock):
    await clock.finish_wait()
    before = await measure_memory(store)
    await clock.finish_wait()
    assert apsw.memory_used() >= before


async def test_a_closed_database_is_ignored(store, clock, output_bytes):
    await store.close()
    output_bytes[0] = 100
    await clock.finish_wait()

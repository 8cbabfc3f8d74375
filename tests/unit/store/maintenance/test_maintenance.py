import pytest

from termvisor.clock import SystemClock
from termvisor.errors import InvalidCursor, StorageError
from termvisor.model.event import Event
from termvisor.model.maintenance import MaintenanceRun
from termvisor.store import Store
from termvisor.store.maintenance.maintenance import SLICE_DURATION_S
from termvisor.store.tables.indexed_table import IndexedTable


async def delete_before(store, before):
    counts = {}
    async for table, number in store.maintenance.delete_older_rows(before):
        counts[table] = counts.get(table, 0) + number
    return {table: number for table, number in counts.items() if number}


async def test_old_rows_of_every_table_are_deleted_as_counted(store, new_pane, write_lines):
    pane = await new_pane()
    for at in (100, 900):
        await write_lines(pane, f"at {at}", at=at)
        await store.events.add([Event(at=at, kind="pane_appeared", pane=pane)])
    assert {name: n for name, n in (await store.maintenance.count_older_rows(500)).items() if n} == {
        "block": 1,
        "event": 1,
    }
    assert await delete_before(store, 500) == {"block": 1, "event": 1}
    assert await delete_before(store, 500) == {}


async def test_expired_cursor_reports_the_oldest_valid_one(store):
    await store.events.add([Event(at=at, kind="daemon_started") for at in (100, 200, 900)])
    await delete_before(store, 500)
    with pytest.raises(InvalidCursor) as caught:
        await store.events.list(after=1)
    assert caught.value.details["oldest"] == "2"
    assert [event.id for event in await store.events.list(after=2)] == [3]


async def test_free_pages_are_released(store, new_pane, write_lines):
    pane = await new_pane()
    for number in range(300):
        await write_lines(pane, f"{number} " + "x" * 8000, at=number)
    used = await store.maintenance.count_used_bytes()
    await delete_before(store, 290)
    async for _ in store.maintenance.merge_indexes():
        pass
    steps = [step async for step in store.maintenance.release_free_pages()]
    await store.checkpoint()
    assert steps[-1][1] == 0
    assert await store.maintenance.count_used_bytes() < used / 3
    assert await store._db.read(lambda connection: connection.pragma("freelist_count")) == 0
    assert await store.check_integrity(thorough=True) == "ok"


async def test_a_slice_ends_when_its_time_is_over(tmp_path, monkeypatch):
    class FastClock(SystemClock):
        at = 0.0

        def monotonic(self):
            self.at += SLICE_DURATION_S
            return self.at

    store = await Store.open(str(tmp_path / "visor.db"), FastClock())
    await store.events.add([Event(at=1, kind="daemon_started") for _ in range(100)])
    slices = [number async for table, number in store.maintenance.delete_older_rows(500) if table == "event"]
    assert sum(slices) == 100
    assert max(slices) <= 8
    await store.close()


async def test_maintenance_runs_are_listed_newest_first(store):
    runs = [MaintenanceRun(operation=name, started_at=at, rows=at) for at, name in enumerate(("seal", "vacuum"))]
    for run in runs:
        await store.maintenance.record_run(run)
    assert await store.maintenance.list_runs() == runs[::-1]
    assert await store.maintenance.list_runs(1) == runs[1:]


async def test_epoch_progress_is_reported(store, new_pane, write_lines):
    pane = await new_pane()
    await write_lines(pane, "x")
    await store.output.close_epoch((await store.output.list_open_epochs())[0].id, "stopped", 5, 9)
    await store.output.open_epoch(pane, "pipe", 6)
    assert await store.maintenance.read_epoch_progress() == {1: (9, True), 2: (0, False)}
    assert await store.maintenance.find_oldest_text_time() == 100


async def test_each_slice_of_a_merge_is_counted(store, new_pane, write_lines):
    pane = await new_pane()
    for number in range(20):
        await write_lines(pane, f"line {number}")
    steps = [step async for step in store.maintenance.merge_indexes()]
    counts = {name: [number for table, number in steps if table == name] for name, _ in steps}
    assert {name: list(range(1, len(found) + 1)) for name, found in counts.items()} == counts
    assert list(counts) == ["block", "sighting", "utterance"]


async def test_the_newest_and_the_oldest_times_are_found(store, new_pane, write_lines):
    assert (await store.maintenance.find_newest_time(), await store.maintenance.find_oldest_text_time()) == (None, None)
    pane = await new_pane()
    await write_lines(pane, "a", at=100, until=300)
    assert await store.maintenance.find_newest_time() == 300
    await store.events.add([Event(at=200, kind="daemon_started")])
    assert await store.maintenance.find_newest_time() == 300
    await store.events.add([Event(at=400, kind="daemon_started")])
    assert (await store.maintenance.find_newest_time(), await store.maintenance.find_oldest_text_time()) == (400, 100)


async def test_the_error_of_a_copy_names_the_copy(store, tmp_path):
    for write in (store.maintenance.write_backup, store.maintenance.write_snapshot):
        with pytest.raises(StorageError, match=r"nowhere/copy\.db"):
            await write(str(tmp_path / "nowhere" / "copy.db"))


async def test_no_pages_are_released_if_none_are_free(store):
    assert [step async for step in store.maintenance.release_free_pages()] == []


async def test_a_merge_begins_across_all_segments_and_goes_on_in_slices(tmp_path, monkeypatch):
    class FastClock(SystemClock):
        at = 0.0

        def monotonic(self):
            self.at += SLICE_DURATION_S * 0.4
            return self.at

    store, calls = await Store.open(str(tmp_path / "visor.db"), FastClock()), []

    def merge(table, connection, pages):
        calls.append((table.name, pages))
        return len(calls) < 5

    monkeypatch.setattr(IndexedTable, "merge_segments", merge)
    steps = [step async for step in store.maintenance.merge_indexes()]
    assert calls == [("block", -16), *[("block", 16)] * 4, ("sighting", -16), ("utterance", -16)]
    assert steps == [("block", 1), ("block", 2), ("block", 3), ("sighting", 1), ("utterance", 1)]
    await store.close()

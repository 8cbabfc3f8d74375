"""Expired data is deleted, and nothing else."""

import os
from collections.abc import AsyncIterator

import pytest

from termvisor.daemon.maintenance.retention import RetentionPruner
from termvisor.errors import InvalidCursor
from termvisor.model.maintenance import MaintenanceRun
from tests.unit.daemon.aged_storage import DAY_NS, AgedStorage, open_storage
from tests.unit.store.stored_actions import add_delivery


@pytest.fixture
async def storage(tmp_path) -> AsyncIterator[AgedStorage]:
    async with open_storage(str(tmp_path)) as opened:
        yield opened


def build_retention(storage: AgedStorage) -> RetentionPruner:
    return RetentionPruner(storage.store, storage.places.raw_dir, storage.clock, lambda: storage.settings)


async def run_to_end(steps: AsyncIterator[MaintenanceRun]) -> MaintenanceRun:
    found = [step async for step in steps]
    assert [step.is_done for step in found].count(True) == 1
    return found[-1]


async def test_old_bytes_and_text_are_deleted_and_new_ones_kept(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    await storage.print_epoch(pane, b"old\n", days_ago=31)
    new = await storage.print_epoch(pane, b"new\n", days_ago=29)
    raw, rows = (
        await run_to_end(build_retention(storage).delete_raw()),
        await run_to_end(build_retention(storage).delete_rows()),
    )
    assert (raw.rows, raw.detail) == (1, "1 segment of 1 pane")
    assert rows.detail == "block 1, event 1"
    assert storage.list_segments() == [(new, 0)]
    assert await storage.read_texts(pane) == ["new"]


async def test_bytes_may_be_deleted_before_the_text(storage: AgedStorage) -> None:
    storage.set_settings(raw_retention=7.0)
    pane = await storage.add_pane()
    await storage.print_epoch(pane, b"text\n", days_ago=10)
    await run_to_end(build_retention(storage).delete_raw())
    await run_to_end(build_retention(storage).delete_rows())
    assert (storage.list_segments(), await storage.read_texts(pane)) == ([], ["text"])


async def test_without_retention_nothing_is_deleted(storage: AgedStorage) -> None:
    storage.set_settings(retention=0.0, total_bytes=0)
    await storage.print_epoch(await storage.add_pane(), b"ancient\n", days_ago=5000)
    assert [step.rows async for step in build_retention(storage).preview()] == [0, 0]
    assert (
        (await run_to_end(build_retention(storage).delete_raw())).rows
        == (await run_to_end(build_retention(storage).delete_rows())).rows
        == 0
    )


async def test_unprocessed_bytes_and_open_segments_are_kept(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    still_open = await storage.print_epoch(pane, b"one\n", b"two\n", days_ago=100, is_open=True)
    unread = await storage.print_epoch(pane, b"late\n", days_ago=100)
    await storage.store._db.write(
        lambda connection: connection.execute("UPDATE epoch SET committed = 0 WHERE id = ?", (unread,)).get
    )
    await run_to_end(build_retention(storage).delete_raw())
    assert storage.list_segments() == [(still_open, 4), (unread, 0)]


async def test_the_newest_bytes_of_each_pane_are_kept(storage: AgedStorage) -> None:
    storage.set_settings(pane_bytes=6)
    one, two = await storage.add_pane("%1"), await storage.add_pane("%2")
    first = await storage.print_epoch(one, b"aaaa\n", b"bbbb\n", days_ago=2)
    second = await storage.print_epoch(one, b"cccc\n", days_ago=1)
    other = await storage.print_epoch(two, b"dddd\n", days_ago=3)
    await run_to_end(build_retention(storage).delete_raw())
    assert storage.list_segments() == [(first, 5), (second, 0), (other, 0)]


async def test_above_the_total_limit_the_oldest_bytes_of_all_panes_are_deleted(storage: AgedStorage) -> None:
    one, two = await storage.add_pane("%1"), await storage.add_pane("%2")
    for pane, age in ((one, 3), (two, 4), (one, 2), (two, 1)):
        await storage.print_epoch(pane, b"x" * 40_000 + b"\n", days_ago=age)
    storage.set_settings(total_bytes=await storage.store.maintenance.count_used_bytes() + 100_000)
    await run_to_end(build_retention(storage).delete_raw())
    assert [epoch for epoch, _ in storage.list_segments()] == [3, 4]
    assert await storage.read_texts(two) == ["x" * 40_000] * 2


async def test_above_the_total_limit_the_oldest_text_is_deleted_too(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    for age in range(20, 0, -1):
        await storage.print_epoch(pane, b"%02d " % age + os.urandom(20_000).hex().encode() + b"\n", days_ago=age)
    limit = await storage.store.maintenance.count_used_bytes() // 2
    storage.set_settings(total_bytes=limit)
    rows = await run_to_end(build_retention(storage).delete_rows())
    assert rows.rows > 0
    assert await storage.store.maintenance.count_used_bytes() <= limit
    kept = [int(text[:2]) for text in await storage.read_texts(pane)]
    assert kept == list(range(kept[0], 0, -1))
    assert await storage.store.check_integrity(thorough=True) == "ok"


async def test_a_deleted_cursor_is_rejected_with_the_oldest_valid_one(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    await storage.print_epoch(pane, b"old\n", days_ago=31)
    await storage.print_epoch(pane, b"new\n", days_ago=1)
    await run_to_end(build_retention(storage).delete_rows())
    with pytest.raises(InvalidCursor) as caught:
        await storage.store.events.list(after=0)
    assert caught.value.details["oldest"] == "1"


async def test_a_preview_deletes_nothing(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    await storage.print_epoch(pane, b"old\n", days_ago=31)
    raw, rows = [step async for step in build_retention(storage).preview()]
    assert (raw.operation, raw.rows, raw.bytes) == ("delete_raw", 1, 4 + 16)
    assert (rows.operation, rows.rows, rows.detail) == ("delete_rows", 2, "block 1, event 1")
    assert storage.list_segments()
    assert await storage.read_texts(pane) == ["old"]


@pytest.mark.parametrize(
    ("retention", "kept"),
    [(30.0, [2, 20]), (3.0, [2]), (0.1, []), (0.0, [2, 20, 40])],
    ids=["a month", "three days", "hours", "for ever"],
)
async def test_delivery_keys_are_kept_as_long_as_text_and_at_least_a_day(
    storage: AgedStorage, retention: float, kept: list[int]
) -> None:
    storage.set_settings(retention=retention)
    pane, sends = await storage.add_pane(), {}
    for age in (40, 20, 2, 0.9):
        at = storage.clock.now() - int(age * DAY_NS)
        sends[age] = await add_delivery(storage.store, pane, at, ended_at=at)
    previewed = [step async for step in build_retention(storage).preview()][1]
    assert (await run_to_end(build_retention(storage).delete_rows())).detail == previewed.detail
    assert [age for age, send in sends.items() if await storage.store.deliveries.find_by_key(send.key)] == [
        *kept[::-1],
        0.9,
    ]


async def test_a_size_limit_deletes_no_delivery_key(storage: AgedStorage) -> None:
    pane, at = await storage.add_pane(), storage.clock.now() - 5 * DAY_NS
    send = await add_delivery(storage.store, pane, at, ended_at=at)
    await storage.print_epoch(pane, os.urandom(20_000).hex().encode() + b"\n", days_ago=2)
    storage.set_settings(total_bytes=1)
    await run_to_end(build_retention(storage).delete_rows())
    assert await storage.read_texts(pane) == []
    assert await storage.store.deliveries.find_by_key(send.key)


async def test_an_empty_closed_pane_is_deleted_with_its_folders(storage: AgedStorage) -> None:
    pane, alive = await storage.add_pane("%1"), await storage.add_pane("%2")
    await storage.print_epoch(pane, b"old\n", days_ago=31)
    await storage.print_epoch(alive, b"old\n", days_ago=31)
    await storage.store.panes.mark_gone(pane, storage.clock.now() - 31 * 86_400 * 10**9)
    for work in (build_retention(storage).delete_raw, build_retention(storage).delete_rows):
        await run_to_end(work())
    assert (await run_to_end(build_retention(storage).forget_panes())).rows == 1
    assert [known.id for known in await storage.store.panes.list_panes(include_gone=True)] == [alive]
    assert os.listdir(storage.places.raw_dir) == [str(alive)]

"""What the settings no longer keep goes, and nothing else."""

import os
from collections.abc import AsyncIterator

import pytest

from termvisor.daemon.maintenance.retention import Pruning
from termvisor.errors import InvalidCursor
from termvisor.model.maintenance import Maintenance
from tests.unit.daemon.storage import DAY, Storage, storage_in
from tests.unit.store.deeds import sent


@pytest.fixture
async def storage(tmp_path) -> AsyncIterator[Storage]:
    async with storage_in(str(tmp_path)) as opened:
        yield opened


def pruning(storage: Storage) -> Pruning:
    return Pruning(storage.store, storage.places.raw_dir, storage.clock, lambda: storage.settings)


async def done(steps: AsyncIterator[Maintenance]) -> Maintenance:
    found = [step async for step in steps]
    assert [step.is_done for step in found].count(True) == 1
    return found[-1]


async def test_old_bytes_and_old_text_go_and_new_ones_stay(storage: Storage) -> None:
    pane = await storage.pane()
    await storage.print(pane, b"old\n", days_ago=31)
    new = await storage.print(pane, b"new\n", days_ago=29)
    raw, rows = await done(pruning(storage).raw()), await done(pruning(storage).rows())
    assert (raw.rows, raw.detail) == (1, "1 segment of 1 pane")
    assert rows.detail == "block 1, event 1"
    assert storage.segments() == [(new, 0)]
    assert await storage.texts(pane) == ["new"]


async def test_bytes_may_go_before_the_text(storage: Storage) -> None:
    storage.set(raw_retention=7.0)
    pane = await storage.pane()
    await storage.print(pane, b"text\n", days_ago=10)
    await done(pruning(storage).raw())
    await done(pruning(storage).rows())
    assert (storage.segments(), await storage.texts(pane)) == ([], ["text"])


async def test_nothing_is_too_old_where_everything_is_kept(storage: Storage) -> None:
    storage.set(retention=0.0, total_bytes=0)
    await storage.print(await storage.pane(), b"ancient\n", days_ago=5000)
    assert [step.rows async for step in pruning(storage).foretell()] == [0, 0]
    assert (await done(pruning(storage).raw())).rows == (await done(pruning(storage).rows())).rows == 0


async def test_what_is_not_text_yet_and_what_is_written_now_stays(storage: Storage) -> None:
    pane = await storage.pane()
    still_open = await storage.print(pane, b"one\n", b"two\n", days_ago=100, is_open=True)
    unread = await storage.print(pane, b"late\n", days_ago=100)
    await storage.store._db.write(
        lambda connection: connection.execute("UPDATE epoch SET committed = 0 WHERE id = ?", (unread,)).get
    )
    await done(pruning(storage).raw())
    assert storage.segments() == [(still_open, 4), (unread, 0)]


async def test_of_each_pane_the_newest_bytes_are_kept(storage: Storage) -> None:
    storage.set(pane_bytes=6)
    one, two = await storage.pane("%1"), await storage.pane("%2")
    first = await storage.print(one, b"aaaa\n", b"bbbb\n", days_ago=2)
    second = await storage.print(one, b"cccc\n", days_ago=1)
    other = await storage.print(two, b"dddd\n", days_ago=3)
    await done(pruning(storage).raw())
    assert storage.segments() == [(first, 5), (second, 0), (other, 0)]


async def test_while_all_is_too_large_the_oldest_bytes_of_all_panes_go_first(storage: Storage) -> None:
    one, two = await storage.pane("%1"), await storage.pane("%2")
    for pane, age in ((one, 3), (two, 4), (one, 2), (two, 1)):
        await storage.print(pane, b"x" * 40_000 + b"\n", days_ago=age)
    storage.set(total_bytes=await storage.store.keeping.used() + 100_000)
    await done(pruning(storage).raw())
    assert [epoch for epoch, _ in storage.segments()] == [3, 4]
    assert await storage.texts(two) == ["x" * 40_000] * 2


async def test_when_the_database_alone_is_too_large_the_oldest_text_goes_too(storage: Storage) -> None:
    pane = await storage.pane()
    for age in range(20, 0, -1):
        await storage.print(pane, b"%02d " % age + os.urandom(20_000).hex().encode() + b"\n", days_ago=age)
    limit = await storage.store.keeping.used() // 2
    storage.set(total_bytes=limit)
    rows = await done(pruning(storage).rows())
    assert rows.rows > 0
    assert await storage.store.keeping.used() <= limit
    kept = [int(text[:2]) for text in await storage.texts(pane)]
    assert kept == list(range(kept[0], 0, -1))
    assert await storage.store.check(thorough=True) == "ok"


async def test_a_cursor_from_before_names_the_oldest_that_holds(storage: Storage) -> None:
    pane = await storage.pane()
    await storage.print(pane, b"old\n", days_ago=31)
    await storage.print(pane, b"new\n", days_ago=1)
    await done(pruning(storage).rows())
    with pytest.raises(InvalidCursor) as caught:
        await storage.store.events.list(after=0)
    assert caught.value.details["oldest"] == 1


async def test_it_is_foretold_and_nothing_is_done(storage: Storage) -> None:
    pane = await storage.pane()
    await storage.print(pane, b"old\n", days_ago=31)
    raw, rows = [step async for step in pruning(storage).foretell()]
    assert (raw.operation, raw.rows, raw.bytes) == ("delete_raw", 1, 4 + 16)
    assert (rows.operation, rows.rows, rows.detail) == ("delete_rows", 2, "block 1, event 1")
    assert storage.segments()
    assert await storage.texts(pane) == ["old"]


@pytest.mark.parametrize(
    ("retention", "kept"),
    [(30.0, [2, 20]), (3.0, [2]), (0.1, []), (0.0, [2, 20, 40])],
    ids=["a month", "three days", "hours", "for ever"],
)
async def test_the_key_of_a_send_is_known_as_long_as_text_is_kept_but_a_day_at_least(
    storage: Storage, retention: float, kept: list[int]
) -> None:
    storage.set(retention=retention)
    pane, sends = await storage.pane(), {}
    for age in (40, 20, 2, 0.9):
        at = storage.clock.now() - int(age * DAY)
        sends[age] = await sent(storage.store, pane, at, ended_at=at)
    foretold = [step async for step in pruning(storage).foretell()][1]
    assert (await done(pruning(storage).rows())).detail == foretold.detail
    assert [age for age, send in sends.items() if await storage.store.sends.one(send.key)] == [*kept[::-1], 0.9]


async def test_a_full_disk_makes_no_key_forgotten(storage: Storage) -> None:
    pane, at = await storage.pane(), storage.clock.now() - 5 * DAY
    send = await sent(storage.store, pane, at, ended_at=at)
    await storage.print(pane, os.urandom(20_000).hex().encode() + b"\n", days_ago=2)
    storage.set(total_bytes=1)
    await done(pruning(storage).rows())
    assert await storage.texts(pane) == []
    assert await storage.store.sends.one(send.key)


async def test_a_pane_of_which_nothing_is_left_is_forgotten_with_its_folders(storage: Storage) -> None:
    pane, alive = await storage.pane("%1"), await storage.pane("%2")
    await storage.print(pane, b"old\n", days_ago=31)
    await storage.print(alive, b"old\n", days_ago=31)
    await storage.store.panes.gone(pane, storage.clock.now() - 31 * 86_400 * 10**9)
    for work in (pruning(storage).raw, pruning(storage).rows):
        await done(work())
    assert (await done(pruning(storage).panes())).rows == 1
    assert [known.id for known in await storage.store.panes.all(gone=True)] == [alive]
    assert os.listdir(storage.places.raw_dir) == [str(alive)]

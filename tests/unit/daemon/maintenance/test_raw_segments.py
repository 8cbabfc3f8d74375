import os
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from termvisor.capture.raw_log import EpochProgress, count_missing_bytes, list_segments
from termvisor.capture.sealing import delete_segment
from termvisor.daemon.maintenance.raw_segments import SegmentSealer, take_inventory
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction.raw_bytes import mask_bytes
from tests.unit.daemon.aged_storage import AgedStorage, open_storage

KEY = b"sk-ant-api03-aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9hJ1kL3mN5pQ7rS9tU1"


@pytest.fixture
async def storage(tmp_path) -> AsyncIterator[AgedStorage]:
    async with open_storage(str(tmp_path)) as opened:
        yield opened


def sealer(storage: AgedStorage) -> SegmentSealer:
    return SegmentSealer(storage.store, storage.places, storage.clock, lambda: storage.settings)


async def test_complete_segments_are_redacted_and_compressed_once(storage: AgedStorage) -> None:
    epoch = await storage.print_epoch(await storage.add_pane(), b"x\n" * 3000, KEY + b"\n", days_ago=1)
    one = sealer(storage)
    waiting = await one.preview()
    steps = [step async for step in one.seal_segments()]
    assert (waiting.rows, waiting.detail) == (2, "2 segments")
    assert steps[-1].detail == "2 segments, 1 row with secrets"
    assert steps[-1].bytes > 5000
    assert [(segment.is_compressed, segment.is_masked) for segment in list_segments(storage.places.raw_dir)] == [
        (True, True)
    ] * 2
    reader = SegmentReader(f"{storage.places.raw_dir}/1/{epoch}")
    assert b"".join(data for _, data, _ in reader.read_pieces(6000, 1000)) == mask_bytes(KEY + b"\n")
    reader.close()
    assert (await one.preview()).rows == 0
    assert [step.rows async for step in one.seal_segments()] == [0]


async def test_nothing_is_sealed_if_the_settings_disable_it(storage: AgedStorage) -> None:
    storage.set_settings(compress=False, mask_raw=False)
    await storage.print_epoch(await storage.add_pane(), b"x\n", days_ago=1)
    assert (await sealer(storage).preview()).rows == 0


async def test_a_segment_that_cannot_be_sealed_is_an_alert_until_it_can(storage: AgedStorage) -> None:
    epoch = await storage.print_epoch(await storage.add_pane(), b"x\n", b"y\n", days_ago=1)
    one = sealer(storage)
    obstacle = f"{storage.places.raw_dir}/1/{epoch}/0000000000000000.raw.tmp"
    os.mkdir(obstacle)
    assert [step.rows async for step in one.seal_segments()] == [0]
    assert one.problem == f"raw segments cannot be sealed: Is a directory: {obstacle}"
    os.rmdir(obstacle)
    assert [step.rows async for step in one.seal_segments()] == [1, 2, 2]
    assert one.problem == ""


async def test_bytes_cut_after_their_text_was_stored_are_an_alert(storage: AgedStorage) -> None:
    pane = await storage.add_pane()
    epoch = await storage.print_epoch(pane, b"one\n", b"two\n", b"three\n", days_ago=1)
    other = await storage.print_epoch(await storage.add_pane("%2"), b"kept\n", b"cut away\n", days_ago=0, is_open=True)
    one = sealer(storage)
    await one.preview()
    assert one.damage == ""
    os.truncate(f"{storage.places.raw_dir}/1/{epoch}/{4:016}.raw", 1)
    os.truncate(f"{storage.places.raw_dir}/2/{other}/{5:016}.raw", 2)
    await one.preview()
    assert one.damage.startswith("another program cut or deleted raw segments of pane 1 (3 bytes), 2 (7 bytes): replay")


async def test_what_retention_deleted_is_no_damage(storage: AgedStorage) -> None:
    epoch = await storage.print_epoch(await storage.add_pane(), b"one\n", b"two\n", days_ago=1)
    delete_segment(f"{storage.places.raw_dir}/1/{epoch}", 0)
    one = sealer(storage)
    await one.preview()
    assert one.damage == ""
    delete_segment(f"{storage.places.raw_dir}/1/{epoch}", 4)
    await one.preview()
    assert one.damage == ""


async def test_closing_the_iterator_kills_the_worker(storage: AgedStorage) -> None:
    await storage.print_epoch(await storage.add_pane(), *(b"%d\n" % number for number in range(9)), days_ago=1)
    async with aclosing(sealer(storage).seal_segments()) as steps:
        assert (await anext(steps)).rows == 1
    assert [(await anext(steps, None)) for _ in range(1)] == [None]
    assert len(storage.list_segments()) == 9


async def test_the_inventory_joins_files_with_their_epochs(tmp_path) -> None:
    async with open_storage(str(tmp_path)) as storage:
        pane = await storage.add_pane()
        closed = await storage.print_epoch(pane, b"one\n", b"two\n", days_ago=1)
        still_open = await storage.print_epoch(pane, b"x\n", b"y" * 20_000, b"z\n", days_ago=0, is_open=True)
        found = await take_inventory(storage.store, storage.places.raw_dir)
        over = [(segment.epoch, segment.start) for segment in found.list_consumed()]
        assert over == [(closed, 0), (closed, 4), (still_open, 0), (still_open, 2)]
        assert [(segment.epoch, segment.start) for segment in found.list_sealable()] == over[:3]


async def test_bytes_written_and_stored_since_the_listing_are_not_missing(storage: AgedStorage) -> None:
    epoch = await storage.print_epoch(await storage.add_pane(), b"one\n", days_ago=0, is_open=True)
    listed = list_segments(storage.places.raw_dir)
    with open(f"{storage.places.raw_dir}/1/{epoch}/{0:016}.raw", "ab") as raw:
        raw.write(b"two\n")
    assert count_missing_bytes(listed, {epoch: EpochProgress(8, False)}) == {}
    assert count_missing_bytes(listed, {epoch: EpochProgress(9, False)}) == {1: 1}

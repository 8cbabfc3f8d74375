import os
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from termvisor.capture.raw_log import survey
from termvisor.daemon.maintenance.sealer import Sealer
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction.raw_bytes import mask
from tests.unit.daemon.storage import Storage, storage_in

KEY = b"sk-ant-api03-aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5dE7fG9hJ1kL3mN5pQ7rS9tU1"


@pytest.fixture
async def storage(tmp_path) -> AsyncIterator[Storage]:
    async with storage_in(str(tmp_path)) as opened:
        yield opened


def sealer(storage: Storage) -> Sealer:
    return Sealer(storage.store, storage.places, storage.clock, lambda: storage.settings)


async def test_complete_segments_are_masked_and_packed_once(storage: Storage) -> None:
    epoch = await storage.print(await storage.pane(), b"x\n" * 3000, KEY + b"\n", days_ago=1)
    one = sealer(storage)
    waiting = await one.waiting()
    steps = [step async for step in one.seal()]
    assert (waiting.rows, waiting.detail) == (2, "2 segments")
    assert steps[-1].detail == "2 segments, 1 row with secrets"
    assert steps[-1].bytes > 5000
    assert [(segment.is_packed, segment.is_masked) for segment in survey(storage.places.raw_dir)] == [(True, True)] * 2
    reader = SegmentReader(f"{storage.places.raw_dir}/1/{epoch}")
    assert b"".join(data for _, data, _ in reader.pieces(6000, 1000)) == mask(KEY + b"\n")
    reader.close()
    assert (await one.waiting()).rows == 0
    assert [step.rows async for step in one.seal()] == [0]


async def test_nothing_is_sealed_that_nobody_wants_sealed(storage: Storage) -> None:
    storage.set(compress=False, mask_raw=False)
    await storage.print(await storage.pane(), b"x\n", days_ago=1)
    assert (await sealer(storage).waiting()).rows == 0


async def test_a_segment_that_cannot_be_sealed_is_an_alert_until_it_can(storage: Storage) -> None:
    epoch = await storage.print(await storage.pane(), b"x\n", b"y\n", days_ago=1)
    one = sealer(storage)
    obstacle = f"{storage.places.raw_dir}/1/{epoch}/0000000000000000.raw.tmp"
    os.mkdir(obstacle)
    assert [step.rows async for step in one.seal()] == [0]
    assert one.trouble == f"raw segments cannot be sealed: Is a directory: {obstacle}"
    os.rmdir(obstacle)
    assert [step.rows async for step in one.seal()] == [1, 2, 2]
    assert one.trouble == ""


async def test_whoever_stops_listening_ends_the_process_and_harms_nothing(storage: Storage) -> None:
    await storage.print(await storage.pane(), *(b"%d\n" % number for number in range(9)), days_ago=1)
    async with aclosing(sealer(storage).seal()) as steps:
        assert (await anext(steps)).rows == 1
    assert [(await anext(steps, None)) for _ in range(1)] == [None]
    assert len(storage.segments()) == 9

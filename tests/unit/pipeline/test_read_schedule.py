"""No pane slows down another: output that is slow to decode gets turns of limited time, and rests between them."""

from collections import Counter

import pytest

from termvisor.model.ids import EpochId
from termvisor.pipeline import epoch_reader
from termvisor.pipeline.epoch_reader import EpochReader
from termvisor.pipeline.read_schedule import MAX_TURN_S, ReadSchedule
from tests.unit.capture.capture_harness import CaptureStore

FAST, SLOW, OTHER = EpochId(1), EpochId(2), EpochId(3)
SECONDS_PER_SLOW_CHUNK = 0.015


def run_pass(schedule: ReadSchedule, now: float, **turns: tuple[int, float]) -> list[EpochId]:
    """Run a pass in which the epochs take these turns (bytes, seconds); return the epochs in order."""
    taken = []
    for epoch in schedule.iterate_pass(now):
        taken.append(epoch)
        size, seconds = turns.get(f"epoch_{epoch}", (100, 0.0))
        now += seconds
        schedule.record_turn(epoch, size, seconds, now)
    return taken


def test_a_slow_epoch_rests_as_long_as_it_was_read():
    schedule = ReadSchedule()
    schedule.add(SLOW)
    assert run_pass(schedule, 10.0, epoch_2=(8192, 0.03)) == [SLOW]
    assert (schedule.is_slow(SLOW), schedule.find_next_pass()) == (True, pytest.approx(10.06))
    schedule.add(FAST)
    schedule.add(SLOW)
    assert (schedule.find_next_pass(), run_pass(schedule, 10.04)) == (0.0, [FAST])
    assert run_pass(schedule, 10.07) == [FAST, SLOW]
    assert not schedule.is_slow(SLOW)


def test_much_output_in_one_turn_is_not_slow():
    schedule = ReadSchedule()
    schedule.add(FAST)
    assert run_pass(schedule, 0.0, epoch_1=(1 << 18, MAX_TURN_S)) == [FAST]
    assert (schedule.is_slow(FAST), schedule.find_next_pass()) == (False, 0.0)


def test_slow_epochs_share_the_time_of_a_pass_in_turn():
    schedule, turns, now = ReadSchedule(), Counter(), 0.0
    slow = {f"epoch_{epoch}": (8192, 0.03) for epoch in range(1, 11)}
    for epoch in range(1, 11):
        schedule.add(EpochId(epoch))
    assert len(run_pass(schedule, now, **slow)) == 10
    for _ in range(20):
        now = schedule.find_next_pass()
        taken = run_pass(schedule, now, **slow)
        assert len(taken) == 2
        turns.update(taken)
    assert set(turns.values()) == {4}


def test_an_epoch_that_is_read_completely_is_removed():
    schedule = ReadSchedule()
    schedule.add(FAST)
    schedule.add(SLOW)
    for epoch in schedule.iterate_pass(0.0):
        schedule.discard(epoch)
        schedule.record_turn(epoch, 8192, 1.0, 1.0)
    assert (len(schedule), list(schedule), FAST in schedule, schedule.find_next_pass()) == (0, [], False, None)


@pytest.fixture
async def floods(capture_store: CaptureStore, monkeypatch):
    """A pane whose chunks each take a fixed time by the clock, one beside it, and the panes in the order of reading."""
    panes = [await capture_store.add_pane(f"%{number}") for number in (1, 2)]
    flooded, quiet = [await capture_store.reserve_epoch(pane) for pane in panes]
    order: list[EpochId] = []
    read_chunk = EpochReader._read_chunk

    def count_chunk(self: EpochReader, data: bytes, at: int) -> None:
        order.append(self.epoch.id)
        capture_store.clock.advance_s += SECONDS_PER_SLOW_CHUNK if self.epoch.id == flooded.id else 0.0
        read_chunk(self, data, at)

    monkeypatch.setattr(EpochReader, "_read_chunk", count_chunk)
    return flooded, quiet, order


async def test_a_flood_delays_another_pane_by_a_few_chunks(capture_store, floods):
    flooded, quiet, order = floods
    pipeline = capture_store.pipeline
    capture_store.write_output(flooded, b"TOKEN=x\r\n" * 50_000)
    pipeline.open_epoch(flooded)
    pipeline.open_epoch(quiet)
    for number in range(5):
        began = len(order)
        capture_store.write_output(quiet, b"line %d\r\n" % number)
        await pipeline.wait_settled(quiet.pane)
        chunks = order[began:].index(quiet.id)
        assert chunks <= 4
    assert order.count(flooded.id) < 450_000 // epoch_reader._CHUNK_BYTES


async def test_waiting_for_all_panes_does_not_wait_for_a_flood(capture_store, floods):
    flooded, quiet, _ = floods
    pipeline = capture_store.pipeline
    capture_store.write_output(flooded, b"TOKEN=x\r\n" * 50_000)
    pipeline.open_epoch(flooded)
    pipeline.open_epoch(quiet)
    capture_store.write_output(quiet, b"first\r\n")
    await pipeline.wait_settled(quiet.pane)
    capture_store.write_output(quiet, b"second\r\n")
    await pipeline.wait_settled(leaves_slow=True)
    assert [line.text for line in await pipeline.lines.read(quiet.pane)] == ["first", "second"]
    assert pipeline.backlog_bytes > 0
    await pipeline.wait_settled()
    assert pipeline.backlog_bytes == 0

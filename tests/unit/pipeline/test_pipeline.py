"""Decode raw logs to stored text: all of it, once, redacted."""

import asyncio
import os
from pathlib import Path

import pytest

from termvisor.clock import NS
from termvisor.errors import StorageError
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline import Pipeline, get_activity
from termvisor.pipeline.pipeline import FlushWaiter
from termvisor.recorder.segment_log import SegmentWriter
from tests.unit.capture.capture_harness import AdvancedClock
from tests.unit.wait_until import wait_until

KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
END = b"\x1b]7770;end;0\x1b\\"


class HastyClock(AdvancedClock):
    """A clock with short sleeps."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


async def reopen_epoch(capture_store) -> Epoch:
    """Return the only open epoch, as the next daemon finds it."""
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_open_epochs()
    capture_store.pipeline.open_epoch(left)
    return left


def read_database(capture_store) -> bytes:
    folder = Path(capture_store.paths.database).parent
    return b"".join(path.read_bytes() for path in folder.glob("visor.db*"))


async def test_bytes_are_decoded_to_lines_with_their_times(capture_store, pane, epoch):
    now = capture_store.clock.now()
    capture_store.write_output(epoch, b"one\r\ntwo\r\n", now - 5 * NS)
    capture_store.write_output(epoch, b"three\r\n$ ", now)
    assert await capture_store.read_lines(pane) == ["one", "two", "three"]
    lines = await capture_store.pipeline.lines.read(pane)
    assert [line.at for line in lines] == [now - 5 * NS, now - 5 * NS, now]
    assert capture_store.pipeline.current_readers[pane].pending_line == "$"


async def test_the_next_daemon_continues_inside_a_line(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"whole\r\nbegun ")
    await capture_store.pipeline.wait_settled()
    left = await reopen_epoch(capture_store)
    capture_store.write_output(left, b"and ended\r\n")
    assert await capture_store.read_lines(pane) == ["whole", "begun and ended"]


async def test_a_pane_that_falls_silent_can_be_resumed_at_its_last_byte(capture_store, pane, epoch):
    # Otherwise its last segment could not be sealed, and secrets in it not masked, before it prints again.
    clock = capture_store.clock
    capture_store.write_output(epoch, b"one\r\n", clock.now() - 60 * NS)
    await capture_store.pipeline.wait_settled()
    size = capture_store.write_output(epoch, b"two\r\n$ ", clock.now() - 50 * NS)
    await capture_store.pipeline.wait_settled()
    clock.advance_s += 10
    capture_store.pipeline.note_growth(epoch.id)

    async def read_committed() -> int:
        return (await capture_store.store.output.list_open_epochs())[0].committed

    while await read_committed() != size:
        await asyncio.sleep(0.01)
    await reopen_epoch(capture_store)
    assert await capture_store.read_lines(pane) == ["one", "two"]


async def test_bytes_read_but_not_stored_are_read_again(capture_store, pane):
    epoch = await capture_store.reserve_epoch(pane)
    hesitant = Pipeline(
        capture_store.store.output, raw_dir=capture_store.paths.raw_dir, clock=capture_store.clock, flush_interval=60.0
    )
    hesitant.open_epoch(epoch)
    capture_store.write_output(epoch, b"one\r\ntwo\r\n")
    flow = asyncio.ensure_future(hesitant.run())
    await wait_until(lambda: hesitant.captured_bytes == 10)
    flow.cancel()
    assert await capture_store.pipeline.lines.find_last_number(pane) == 0
    await reopen_epoch(capture_store)
    assert await capture_store.read_lines(pane) == ["one", "two"]


async def test_a_secret_in_two_pieces_is_in_neither_database_nor_pending_line(capture_store, pane, epoch):
    capture_store.write_output(epoch, f"export TOKEN={KEY[:20]}".encode())
    await capture_store.pipeline.wait_settled()
    capture_store.write_output(epoch, f"{KEY[20:]} ok\r\n$ curl -H {KEY}".encode())
    (line,) = await capture_store.read_lines(pane)
    assert line.startswith("export TOKEN=") and line.endswith(" ok")
    assert KEY not in capture_store.pipeline.current_readers[pane].pending_line
    await capture_store.pipeline.finish_epoch(epoch.id, capture_store.epochs.measure_size(epoch))
    await capture_store.store.checkpoint()
    assert b"export" in read_database(capture_store)
    assert KEY[5:30].encode() not in read_database(capture_store)


async def test_a_secret_in_a_mark_is_not_stored(capture_store, pane, epoch):
    capture_store.write_output(epoch, f"\x1b]133;C;cmdline=login {KEY}\x1b\\\r\n".encode())
    await capture_store.pipeline.wait_settled()
    assert [mark.kind for _, mark in await capture_store.store.output.list_marks(pane)] == ["command_start"]
    await capture_store.store.checkpoint()
    assert KEY.encode() not in read_database(capture_store)


@pytest.mark.parametrize(
    ("data", "is_proven"),
    [
        (b"word\r\n" + END, True),
        (b"unfinished" + END, True),
        (b"word\r\n", False),
        (END + b"\r\nbut there was more\r\n", False),
        (END + b"\x1b]0;title\x07", False),
        (b"", False),
    ],
)
async def test_an_end_is_proven_if_the_end_mark_is_the_last_output(capture_store, epoch, data, is_proven):
    size = capture_store.write_output(epoch, data) if data else 0
    assert await capture_store.pipeline.finish_epoch(epoch.id, size) is is_proven


async def test_the_end_mark_is_known_to_the_next_daemon(capture_store, epoch):
    size = capture_store.write_output(epoch, b"word\r\n" + END)
    await capture_store.pipeline.wait_settled()
    left = await reopen_epoch(capture_store)
    assert await capture_store.pipeline.finish_epoch(left.id, size)


async def test_finishing_stores_the_unfinished_line_and_releases_the_epoch(capture_store, pane, epoch):
    size = capture_store.write_output(epoch, b"whole\r\nhalf")
    await capture_store.pipeline.finish_epoch(epoch.id, size)
    assert [line.text for line in await capture_store.pipeline.lines.read(pane)] == ["whole", "half"]
    assert capture_store.pipeline.current_readers == {}
    assert get_activity(capture_store.pipeline.current_readers.get(pane)).kind == "gap"


async def test_an_unopened_epoch_is_already_finished(capture_store):
    capture_store.pipeline.note_growth(99, 1000)
    assert await capture_store.pipeline.finish_epoch(99, 1000) is False


async def test_a_closed_epoch_whose_text_is_missing_is_finished_when_opened(capture_store, pane, epoch):
    size = capture_store.write_output(epoch, b"one\r\ntwo")
    await capture_store.store.output.close_epoch(epoch.id, "stopped", capture_store.clock.now(), size)
    await capture_store.restart()
    (left,) = await capture_store.store.output.list_unfinished_epochs()
    capture_store.pipeline.open_epoch(left)
    await wait_until(lambda: pane not in capture_store.pipeline.current_readers)
    assert await capture_store.read_lines(pane) == ["one", "two"]
    assert await capture_store.store.output.list_unfinished_epochs() == []


async def test_wait_settled_includes_unreported_bytes(capture_store, pane, epoch):
    writer = SegmentWriter(capture_store.pipeline.build_folder_path(epoch), 1 << 20)
    writer.append(b"silent\r\n" * 1000, capture_store.clock.now())
    writer.close()
    await capture_store.pipeline.wait_settled()
    assert await capture_store.pipeline.lines.find_last_number(pane) == 1000


async def test_one_pane_is_settled_without_waiting_for_the_others(capture_store, pane, epoch):
    other = await capture_store.reserve_epoch(await capture_store.add_pane("%2"))
    capture_store.pipeline.open_epoch(other)
    await wait_until(lambda: capture_store.pipeline.queue_depth == 0)
    writer = SegmentWriter(capture_store.pipeline.build_folder_path(other), 1 << 20)
    writer.append(b"never reported\r\n", capture_store.clock.now())
    writer.close()
    capture_store.write_output(epoch, b"heard\r\n")
    await capture_store.pipeline.wait_settled(pane)
    assert await capture_store.pipeline.lines.find_last_number(pane) == 1
    assert await capture_store.pipeline.lines.find_last_number(other.pane) == 0
    await capture_store.pipeline.wait_settled()
    assert await capture_store.pipeline.lines.find_last_number(other.pane) == 1


async def test_waiting_returns_at_once_if_all_is_stored(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"heard\r\n$ ")
    await capture_store.pipeline.wait_settled(pane)
    settling = capture_store.pipeline.wait_settled(pane)
    with pytest.raises(StopIteration):
        settling.send(None)


async def test_settling_ends_though_another_pane_never_stops_printing(capture_store, pane, epoch):
    other = await capture_store.reserve_epoch(await capture_store.add_pane("%2"))
    capture_store.pipeline.open_epoch(other)
    writer = SegmentWriter(capture_store.pipeline.build_folder_path(other), 1 << 20)

    async def flood() -> None:
        writer.append(b"\x1b[?1049h", capture_store.clock.now())
        while True:
            writer.append(b"painted " * 100, capture_store.clock.now())
            capture_store.pipeline.note_growth(other.id, writer.offset)
            await asyncio.sleep(0)

    flooding = asyncio.ensure_future(flood())
    for number in range(5):
        capture_store.write_output(epoch, b"line %d\r\n" % number)
        await asyncio.wait_for(capture_store.pipeline.wait_settled(), 20)
        assert await capture_store.pipeline.lines.find_last_number(pane) == number + 1
    flooding.cancel()
    writer.close()


async def test_a_length_beyond_the_log_is_read_to_the_logs_end(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"all there is\r\n")
    capture_store.pipeline.note_growth(epoch.id, 10**12)
    assert await capture_store.read_lines(pane) == ["all there is"]
    await wait_until(lambda: capture_store.pipeline.queue_depth == 0)
    assert capture_store.pipeline.backlog_bytes == 0
    assert await asyncio.wait_for(capture_store.pipeline.finish_epoch(epoch.id, 10**12), 10) is False


@pytest.mark.parametrize("size", [0, 6])
async def test_a_log_shorter_than_the_stored_position_does_not_block(capture_store, pane, epoch, size, monkeypatch):
    monkeypatch.setattr("termvisor.pipeline.epoch_text._SNAPSHOT_BYTES", 1)
    capture_store.write_output(epoch, b"first\r\nsecond\r\nthird\r\n")
    await capture_store.pipeline.wait_settled()
    (raw,) = Path(capture_store.pipeline.build_folder_path(epoch)).glob("*.raw")
    os.truncate(raw, size)
    left = await reopen_epoch(capture_store)
    await asyncio.wait_for(capture_store.pipeline.wait_settled(), 10)
    await asyncio.wait_for(capture_store.pipeline.finish_epoch(left.id, size), 10)
    assert await capture_store.read_lines(pane) == ["first", "second", "third"]


async def test_a_deleted_segment_is_a_gap_and_the_text_continues_after_it(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"first\r\nhalf")
    await capture_store.pipeline.wait_settled()
    capture_store.write_output(epoch, b" a line\r\n")
    missing = capture_store.epochs.measure_size(epoch)
    capture_store.write_output(epoch, b"third\r\n")
    left = capture_store.pipeline.build_folder_path(epoch)
    os.remove(sorted(Path(left).glob("*.raw"))[1])
    await reopen_epoch(capture_store)
    assert await capture_store.read_lines(pane) == ["first", "half", "third"]
    (gap,) = await capture_store.list_gaps(pane)
    assert (gap.cause, gap.after, gap.before, gap.end_at is None) == ("log_truncated", epoch.id, epoch.id, False)
    assert f"to {missing}" in gap.detail


async def test_marks_change_the_activity_and_relevant_ones_are_stored(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"\x1b]0;a title\x07\x1b]133;A\x1b\\$ \x1b]133;C\x1b\\\r\n")
    await capture_store.pipeline.wait_settled()
    assert get_activity(capture_store.pipeline.current_readers[pane]).kind == "command"
    capture_store.write_output(epoch, b"\x1b]133;D;3\x1b\\")
    await capture_store.pipeline.wait_settled()
    activity = get_activity(capture_store.pipeline.current_readers[pane])
    assert (activity.kind, activity.last_exit, activity.is_proven) == ("prompt", 3, False)
    kinds = [mark.kind for _, mark in await capture_store.store.output.list_marks(pane)]
    assert kinds == ["prompt_start", "command_start", "command_end"]


async def test_the_activity_survives_the_daemon(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"\x1b]133;C\x1b\\\r\n")
    await capture_store.pipeline.wait_settled()
    await reopen_epoch(capture_store)
    assert get_activity(capture_store.pipeline.current_readers[pane]).kind == "command"


async def test_a_mark_with_the_nonce_is_proven(capture_store, pane):
    epoch = await capture_store.reserve_epoch(pane)
    knowing = Pipeline(
        capture_store.store.output,
        raw_dir=capture_store.paths.raw_dir,
        clock=capture_store.clock,
        flush_interval=0.01,
        nonce="0a1b",
    )
    knowing.open_epoch(epoch)
    flow = asyncio.ensure_future(knowing.run())
    capture_store.write_output(epoch, b"\x1b]133;A;nonce=0a1b\x1b\\$ ")
    await knowing.wait_settled()
    assert get_activity(knowing.current_readers[pane]).is_proven
    flow.cancel()


async def test_the_alternate_screen_yields_no_lines(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"before\r\n\x1b[?1049hpainted\r\nmore paint\r\n")
    assert await capture_store.read_lines(pane) == ["before"]
    assert get_activity(capture_store.pipeline.current_readers[pane]).kind == "alt_screen"
    left = await reopen_epoch(capture_store)
    capture_store.write_output(left, b"still painting\r\n\x1b[?1049lafter\r\n")
    assert await capture_store.read_lines(pane) == ["before", "after"]


async def test_subscribers_get_output_and_commits(capture_store, pane, epoch):
    with capture_store.pipeline.changed_panes.subscribe() as listener:
        capture_store.write_output(epoch, b"word\r\n")
        await capture_store.pipeline.wait_settled()
        assert listener.drain() == [pane, pane]


async def test_captured_bytes_are_measured(capture_store, pane, epoch):
    now = capture_store.clock.now()
    capture_store.write_output(epoch, b"12345\r\n", now - 2 * NS)
    await capture_store.pipeline.wait_settled()
    assert capture_store.pipeline.captured_bytes == 7
    assert (capture_store.pipeline.rate_meters[pane].total, capture_store.pipeline.rate_meters[pane].last_at) == (
        7,
        now - 2 * NS,
    )
    assert capture_store.pipeline.max_lag_s >= capture_store.pipeline.average_lag_s >= 2.0


async def test_the_rate_is_dropped_with_the_epoch(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"12345\r\n")
    await capture_store.pipeline.finish_epoch(epoch.id, 7)
    assert (capture_store.pipeline.rate_meters, capture_store.pipeline.current_readers) == ({}, {})


async def test_a_full_disk_delays_storage_and_loses_nothing(capture_store, pane):
    class FullStore:
        """A store that is full at first."""

        tries = 0
        record_gap = capture_store.store.output.record_gap

        async def commit(self, batch):
            FullStore.tries += 1
            troubles.append(late.storage_error)
            if FullStore.tries < 3:
                raise StorageError("no room")
            return await capture_store.store.output.commit(batch)

    troubles: list[str] = []
    late = Pipeline(FullStore(), raw_dir=capture_store.paths.raw_dir, clock=HastyClock(), flush_interval=0.01)
    epoch = await capture_store.reserve_epoch(pane)
    late.open_epoch(epoch)
    capture_store.write_output(epoch, b"word\r\n")
    flow = asyncio.ensure_future(late.run())
    await wait_until(lambda: late.captured_bytes and len(troubles) == 3 and not late.storage_error)
    assert troubles == ["", *["text cannot be stored: no room"] * 2]
    await late.finish_epoch(epoch.id, 6)
    assert await capture_store.read_lines(pane) == ["word"]
    flow.cancel()


async def test_waiters_return_when_text_cannot_be_stored(capture_store, pane):
    class FullStore:
        async def commit(self, batch):
            raise StorageError("no room")

    late = Pipeline(FullStore(), raw_dir=capture_store.paths.raw_dir, clock=HastyClock(), flush_interval=0.01)
    epoch = await capture_store.reserve_epoch(pane)
    late.open_epoch(epoch)
    capture_store.write_output(epoch, b"word\r\n")
    flow = asyncio.ensure_future(late.run())
    async with asyncio.timeout(10):
        await late.wait_settled()
        await late.wait_settled()
    assert late.storage_error == "text cannot be stored: no room"
    flow.cancel()


async def test_unreported_last_bytes_of_an_epoch_are_read(capture_store, pane):
    data = b"one\r\ntwo\r\n"
    late = Pipeline(
        capture_store.store.output, raw_dir=capture_store.paths.raw_dir, clock=capture_store.clock, flush_interval=0.01
    )
    epoch = await capture_store.reserve_epoch(pane)
    late.open_epoch(epoch)
    SegmentWriter(late.build_folder_path(epoch), 1 << 20).append(data, 1)
    late.note_growth(epoch.id, len(b"one\r\n"))
    finishing = asyncio.ensure_future(late.finish_epoch(epoch.id, len(data)))
    await asyncio.sleep(0)
    flow = asyncio.ensure_future(late.run())
    async with asyncio.timeout(10):
        await finishing
    assert [line.text for line in await capture_store.pipeline.lines.read(pane)] == ["one", "two"]
    flow.cancel()


async def test_a_command_without_output_is_published_after_it_is_stored(capture_store, pane, epoch):
    capture_store.write_output(epoch, b"\x1b]133;C;cmdline=true\x07")
    await capture_store.pipeline.wait_settled()
    with capture_store.pipeline.changed_panes.subscribe() as subscription:
        capture_store.write_output(epoch, b"\x1b]133;D;0\x07")
        await capture_store.pipeline.wait_settled()
        assert subscription.drain() == [pane, pane]  # read, then stored
    assert [command.status for command in await capture_store.store.commands.list()] == ["finished"]


async def test_a_user_variable_is_stored_with_its_bytes_and_then_published(capture_store, pane, epoch):
    with capture_store.pipeline.events.subscribe() as subscription:
        capture_store.write_output(
            epoch, b"\x1b]1337;SetUserVar=visor-ready=e30=\x07\x1b]1337;SetUserVar=other=e30=\x07", at=5
        )
        await capture_store.pipeline.wait_settled()
        events = subscription.drain()
    assert events == await capture_store.store.events.list(pane=pane)
    assert [(event.at, event.data["name"]) for event in events] == [(5, "visor-ready")]
    assert [mark.params["name"] for _, mark in await capture_store.store.output.list_marks(pane)] == ["other"]
    await reopen_epoch(capture_store)
    await capture_store.pipeline.wait_settled()
    assert len(await capture_store.store.events.list(pane=pane)) == 1


@pytest.mark.parametrize("line", [b"y\r\n", b"a line of some length that says a little more than yes\r\n"])
async def test_unstored_text_is_bounded_for_any_line_length(capture_store, pane, line):
    epoch, sizes = await capture_store.reserve_epoch(pane), []

    class MeasuringStore:
        async def commit(self, batch):
            sizes.append(
                sum(len(block.lines) * 64 + sum(map(len, block.lines)) for one in batch for block in one.blocks)
            )
            return await capture_store.store.output.commit(batch)

    capture_store.write_output(epoch, line * (4_000_000 // len(line)))
    heavy = Pipeline(
        MeasuringStore(), raw_dir=capture_store.paths.raw_dir, clock=capture_store.clock, flush_interval=60.0
    )
    heavy.open_epoch(epoch)
    flow = asyncio.ensure_future(heavy.run())
    await heavy.wait_settled()
    flow.cancel()
    assert sum(sizes) > 4_000_000
    assert max(sizes) < 9_000_000


async def test_json_lines_are_reported_redacted(capture_store, epoch):
    lines_received = []
    capture_store.pipeline.on_json_lines = lambda of, lines: lines_received.extend(
        (of.id, line.at, line.text) for line in lines
    )
    now = capture_store.clock.now()
    capture_store.write_output(epoch, b'{"type":"x","key":"%s"}\r\nelse\r\n' % KEY.encode(), now)
    await wait_until(lambda: lines_received)
    ((of, at, text),) = lines_received
    assert (of, at) == (epoch.id, now)
    assert text.startswith('{"type":"x","key":"')
    assert KEY not in text


async def test_read_pane_now_reads_the_output_of_an_exited_program(capture_store, pane, epoch):
    lines_received = []
    capture_store.pipeline.on_json_lines = lambda of, lines: lines_received.extend(line.text for line in lines)
    capture_store.write_output(epoch, b'{"type":"x"}\r\n', capture_store.clock.now())
    capture_store.pipeline.read_pane_now(pane)
    assert lines_received == ['{"type":"x"}']
    assert await capture_store.read_lines(pane) == ['{"type":"x"}']
    capture_store.pipeline.read_pane_now(pane)
    assert lines_received == ['{"type":"x"}']


@pytest.fixture
def idle(capture_store) -> Pipeline:
    """A pipeline that reads only when a test tells it to."""
    raw_dir = capture_store.paths.raw_dir
    return Pipeline(capture_store.store.output, raw_dir=raw_dir, clock=capture_store.clock, flush_interval=0.01)


async def test_a_gap_that_cannot_be_stored_at_first_is_stored_once(capture_store, pane, epoch):
    class FullStore:
        """A store that is full at first, then for its text, then not."""

        def __init__(self):
            self.failing = ["record_gap", "commit", "commit"]

        async def record_gap(self, gap):
            self._fail("record_gap")
            return await capture_store.store.output.record_gap(gap)

        async def commit(self, batch):
            self._fail("commit")
            return await capture_store.store.output.commit(batch)

        def _fail(self, name: str) -> None:
            if self.failing[:1] == [name]:
                del self.failing[0]
                raise StorageError("no room")

    for data in (b"first\r\n", b"second\r\n", b"third\r\n"):
        capture_store.write_output(epoch, data)
    await capture_store.restart()
    os.remove(sorted(Path(capture_store.pipeline.build_folder_path(epoch)).glob("*.raw"))[1])
    late = Pipeline(FullStore(), raw_dir=capture_store.paths.raw_dir, clock=HastyClock(), flush_interval=0.01)
    late.open_epoch(epoch)
    flow = asyncio.ensure_future(late.run())
    await wait_until(lambda: late.captured_bytes and not late._store.failing and not late.storage_error)
    await late.finish_epoch(epoch.id, capture_store.epochs.measure_size(epoch))
    assert await capture_store.list_gap_causes(pane) == ["log_truncated"]
    assert [line.text for line in await capture_store.pipeline.lines.read(pane)] == ["first", "third"]
    flow.cancel()


async def test_an_epoch_is_opened_once_and_unknown_panes_have_nothing(capture_store, idle, pane):
    epoch = await capture_store.reserve_epoch(pane)
    reader = idle.open_epoch(epoch)
    assert idle.open_epoch(epoch) is reader
    assert (idle.count_lost_bytes(epoch.id), idle.count_lost_bytes(99)) == (0, 0)
    assert (bool(idle.get_secrets(pane)), bool(idle.get_secrets(99))) == (False, False)
    idle.resize_pane(99, 10, 10)
    idle.read_pane_now(99)
    idle.retry_pending_matches(99)
    await asyncio.wait_for(idle.wait_stored(99), 1)
    reader.final_size = 0
    idle.resize_pane(pane, 10, 10)
    assert reader.text.size == (80, 24)


async def test_a_resize_that_moves_lines_off_the_screen_stores_them(capture_store, epoch, pane):
    capture_store.write_output(epoch, b"".join(b"line %d\r\n" % number for number in range(20)))
    await capture_store.pipeline.wait_settled()
    assert await capture_store.store.output.find_last_line_number(pane) == 0
    capture_store.pipeline.resize_pane(pane, 80, 5)
    await capture_store.pipeline.wait_stored(pane)
    await wait_until(lambda: capture_store.pipeline.current_readers[pane].text.size == (80, 5))
    assert (await capture_store.read_lines(pane))[:2] == ["line 0", "line 1"]
    assert await capture_store.store.output.find_last_line_number(pane) == 16


async def test_the_backlog_is_what_is_not_read_yet(capture_store, idle, pane):
    epoch = await capture_store.reserve_epoch(pane)
    idle.open_epoch(epoch)
    capture_store.write_output(epoch, b"12345\r\n")
    idle.note_growth(epoch.id, 7)
    assert (idle.backlog_bytes, idle.queue_depth) == (7, 1)
    idle.read_pane_now(pane)
    assert (idle.backlog_bytes, idle.captured_bytes) == (0, 7)


async def is_awaited(waiting) -> bool:
    """Return True if the coroutine waits for the pipeline, which does not run."""
    task = asyncio.ensure_future(waiting)
    await asyncio.sleep(0)
    is_waiting = not task.done()
    task.cancel()
    return is_waiting


async def test_a_slow_epoch_is_not_waited_for_if_it_may_be_left(capture_store, idle, pane):
    epoch = await capture_store.reserve_epoch(pane)
    idle.open_epoch(epoch)
    capture_store.write_output(epoch, b"12345\r\n")
    assert await is_awaited(idle.wait_settled(pane, leaves_slow=True))
    assert await is_awaited(idle.wait_settled(pane))
    assert not await is_awaited(idle.wait_settled(99))
    idle._grown_epochs.record_turn(epoch.id, 1, 1.0, capture_store.clock.monotonic())
    assert not await is_awaited(idle.wait_settled(pane, leaves_slow=True))
    assert await is_awaited(idle.wait_settled(pane))


async def test_an_epoch_far_behind_is_not_waited_for_if_it_may_be_left(capture_store, idle, pane, monkeypatch):
    monkeypatch.setattr("termvisor.pipeline.pipeline._MAX_AWAITED_BYTES", 7)
    epoch = await capture_store.reserve_epoch(pane)
    idle.open_epoch(epoch)
    capture_store.write_output(epoch, b"12345\r\n")
    assert not await is_awaited(idle.wait_settled(pane, leaves_slow=True))
    assert await is_awaited(idle.wait_settled(pane))


async def test_the_lag_is_measured_over_the_panes_that_were_stored(capture_store, pane, epoch):
    other = await capture_store.reserve_epoch(await capture_store.add_pane("%2"))
    pipeline = capture_store.pipeline
    readers = {epoch.id: pipeline.current_readers[pane], other.id: pipeline.open_epoch(other)}
    now = capture_store.clock.now()
    for reader, seconds in zip(readers.values(), (-5, 30), strict=True):
        reader.last_byte_at = now - seconds * NS
    pipeline._measure_lag(readers)
    assert (round(pipeline.max_lag_s), round(pipeline.average_lag_s)) == (30, 15)


async def test_a_waiter_is_ready_once_its_size_is_read_although_more_was_printed(capture_store, idle, pane):
    epoch = await capture_store.reserve_epoch(pane)
    reader = idle.open_epoch(epoch)
    ready = []
    for read_offset in (6, 7, 8):
        reader.read_offset = read_offset
        ready.append(idle._is_waiter_ready(FlushWaiter({epoch.id: 7, 99: 5}, asyncio.Future())))
    reader.read_offset = 6
    idle._grown_epochs.discard(epoch.id)
    ready.append(idle._is_waiter_ready(FlushWaiter({epoch.id: 7}, asyncio.Future())))
    assert ready == [False, True, True, True]


async def test_text_is_stored_only_if_it_is_read_and_no_batch_has_it(capture_store, idle, pane):
    epoch = await capture_store.reserve_epoch(pane)
    reader = idle.open_epoch(epoch)
    assert [idle._is_stored(epoch.id, size) for size in (0, 1)] == [True, False]
    assert not idle._is_stored(99, 0)
    for waiting in (idle._unstored_readers, idle._storing_readers):
        waiting[epoch.id] = reader
        assert not idle._is_stored(epoch.id, 0)
        waiting.clear()

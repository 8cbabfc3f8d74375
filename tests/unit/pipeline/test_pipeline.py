"""Raw logs become stored text: all of it, once, without secrets, whoever is told what about their length."""

import asyncio
import os
from pathlib import Path

import pytest

from termvisor.clock import NS
from termvisor.errors import StorageError
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline import Pipeline, get_activity
from termvisor.recorder.segment_log import SegmentWriter
from tests.unit.capture.capture_harness import AdvancedClock
from tests.unit.wait_until import wait_until

KEY = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
END = b"\x1b]7770;end;0\x1b\\"


class HastyClock(AdvancedClock):
    """Nobody sleeps for long."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


async def reopened(memory) -> Epoch:
    """The only open epoch, as a daemon that comes after finds it."""
    await memory.restart()
    (left,) = await memory.store.output.list_open_epochs()
    memory.pipeline.open_epoch(left)
    return left


def on_disk(memory) -> bytes:
    folder = Path(memory.paths.database).parent
    return b"".join(path.read_bytes() for path in folder.glob("visor.db*"))


async def test_bytes_become_lines_with_the_time_at_which_they_came(memory, pane, epoch):
    now = memory.clock.now()
    memory.write_output(epoch, b"one\r\ntwo\r\n", now - 5 * NS)
    memory.write_output(epoch, b"three\r\n$ ", now)
    assert await memory.read_lines(pane) == ["one", "two", "three"]
    lines = await memory.store.output.read_lines(pane)
    assert [line.at for line in lines] == [now - 5 * NS, now - 5 * NS, now]
    assert memory.pipeline.current_readers[pane].pending_line == "$"


async def test_a_daemon_that_comes_after_goes_on_inside_a_line(memory, pane, epoch):
    memory.write_output(epoch, b"whole\r\nbegun ")
    await memory.pipeline.wait_settled()
    left = await reopened(memory)
    memory.write_output(left, b"and ended\r\n")
    assert await memory.read_lines(pane) == ["whole", "begun and ended"]


async def test_what_was_read_but_not_stored_is_read_again(memory, pane):
    epoch = await memory.reserve_epoch(pane)
    hesitant = Pipeline(memory.store.output, raw_dir=memory.paths.raw_dir, clock=memory.clock, flush_interval=60.0)
    hesitant.open_epoch(epoch)
    memory.write_output(epoch, b"one\r\ntwo\r\n")
    flow = asyncio.ensure_future(hesitant.run())
    await wait_until(lambda: hesitant.captured_bytes == 10)
    flow.cancel()
    assert await memory.store.output.find_last_line_number(pane) == 0
    await reopened(memory)
    assert await memory.read_lines(pane) == ["one", "two"]


async def test_a_secret_that_comes_in_two_pieces_reaches_neither_database_nor_pending_line(memory, pane, epoch):
    memory.write_output(epoch, f"export TOKEN={KEY[:20]}".encode())
    await memory.pipeline.wait_settled()
    memory.write_output(epoch, f"{KEY[20:]} ok\r\n$ curl -H {KEY}".encode())
    (line,) = await memory.read_lines(pane)
    assert line.startswith("export TOKEN=") and line.endswith(" ok")
    assert KEY not in memory.pipeline.current_readers[pane].pending_line
    await memory.store.checkpoint()
    assert b"export" in on_disk(memory)
    assert KEY[5:30].encode() not in on_disk(memory)


async def test_a_secret_in_a_mark_is_not_stored_either(memory, pane, epoch):
    memory.write_output(epoch, f"\x1b]133;C;cmdline=login {KEY}\x1b\\\r\n".encode())
    await memory.pipeline.wait_settled()
    assert [mark.kind for _, mark in await memory.store.output.list_marks(pane)] == ["command_start"]
    await memory.store.checkpoint()
    assert KEY.encode() not in on_disk(memory)


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
async def test_an_end_is_proven_when_its_sign_is_the_last_that_came(memory, epoch, data, is_proven):
    size = memory.write_output(epoch, data) if data else 0
    assert await memory.pipeline.finish_epoch(epoch.id, size) is is_proven


async def test_the_sign_of_an_end_is_remembered_by_the_daemon_that_comes_after(memory, epoch):
    size = memory.write_output(epoch, b"word\r\n" + END)
    await memory.pipeline.wait_settled()
    left = await reopened(memory)
    assert await memory.pipeline.finish_epoch(left.id, size)


async def test_finishing_stores_the_unfinished_line_and_lets_the_epoch_go(memory, pane, epoch):
    size = memory.write_output(epoch, b"whole\r\nhalf")
    await memory.pipeline.finish_epoch(epoch.id, size)
    assert [line.text for line in await memory.store.output.read_lines(pane)] == ["whole", "half"]
    assert memory.pipeline.current_readers == {}
    assert get_activity(memory.pipeline.current_readers.get(pane)).kind == "gap"


async def test_an_epoch_that_nobody_opened_is_finished_already(memory):
    memory.pipeline.note_growth(99, 1000)
    assert await memory.pipeline.finish_epoch(99, 1000) is False


async def test_a_closed_epoch_whose_text_is_missing_is_finished_when_opened(memory, pane, epoch):
    size = memory.write_output(epoch, b"one\r\ntwo")
    await memory.store.output.close_epoch(epoch.id, "stopped", memory.clock.now(), size)
    await memory.restart()
    (left,) = await memory.store.output.list_unfinished_epochs()
    memory.pipeline.open_epoch(left)
    await wait_until(lambda: pane not in memory.pipeline.current_readers)
    assert await memory.read_lines(pane) == ["one", "two"]
    assert await memory.store.output.list_unfinished_epochs() == []


async def test_settling_waits_for_bytes_that_nobody_told_of(memory, pane, epoch):
    writer = SegmentWriter(memory.pipeline.build_folder_path(epoch), 1 << 20)
    writer.append(b"silent\r\n" * 1000, memory.clock.now())
    writer.close()
    await memory.pipeline.wait_settled()
    assert await memory.store.output.find_last_line_number(pane) == 1000


async def test_one_pane_is_settled_without_waiting_for_the_others(memory, pane, epoch):
    other = await memory.reserve_epoch(await memory.add_pane("%2"))
    memory.pipeline.open_epoch(other)
    await wait_until(lambda: memory.pipeline.queue_depth == 0)
    writer = SegmentWriter(memory.pipeline.build_folder_path(other), 1 << 20)
    writer.append(b"told by nobody\r\n", memory.clock.now())
    writer.close()
    memory.write_output(epoch, b"heard\r\n")
    await memory.pipeline.wait_settled(pane)
    assert await memory.store.output.find_last_line_number(pane) == 1
    assert await memory.store.output.find_last_line_number(other.pane) == 0
    await memory.pipeline.wait_settled()
    assert await memory.store.output.find_last_line_number(other.pane) == 1


async def test_nobody_waits_where_nothing_is_left_to_store(memory, pane, epoch):
    memory.write_output(epoch, b"heard\r\n$ ")
    await memory.pipeline.wait_settled(pane)
    settling = memory.pipeline.wait_settled(pane)
    with pytest.raises(StopIteration):
        settling.send(None)


async def test_settling_ends_though_another_pane_never_stops_printing(memory, pane, epoch):
    other = await memory.reserve_epoch(await memory.add_pane("%2"))
    memory.pipeline.open_epoch(other)
    writer = SegmentWriter(memory.pipeline.build_folder_path(other), 1 << 20)

    async def flood() -> None:
        writer.append(b"\x1b[?1049h", memory.clock.now())
        while True:
            writer.append(b"painted " * 100, memory.clock.now())
            memory.pipeline.note_growth(other.id, writer.offset)
            await asyncio.sleep(0)

    flooding = asyncio.ensure_future(flood())
    for number in range(5):
        memory.write_output(epoch, b"line %d\r\n" % number)
        await asyncio.wait_for(memory.pipeline.wait_settled(), 20)
        assert await memory.store.output.find_last_line_number(pane) == number + 1
    flooding.cancel()
    writer.close()


async def test_a_length_beyond_the_log_is_read_to_the_logs_end(memory, pane, epoch):
    memory.write_output(epoch, b"all there is\r\n")
    memory.pipeline.note_growth(epoch.id, 10**12)
    assert await memory.read_lines(pane) == ["all there is"]
    await wait_until(lambda: memory.pipeline.queue_depth == 0)
    assert memory.pipeline.backlog_bytes == 0
    assert await asyncio.wait_for(memory.pipeline.finish_epoch(epoch.id, 10**12), 10) is False


@pytest.mark.parametrize("size", [0, 6])
async def test_a_log_shorter_than_what_was_stored_is_no_trap(memory, pane, epoch, size):
    memory.write_output(epoch, b"first\r\nsecond\r\nthird\r\n")
    await memory.pipeline.wait_settled()
    (raw,) = Path(memory.pipeline.build_folder_path(epoch)).glob("*.raw")
    os.truncate(raw, size)
    left = await reopened(memory)
    await asyncio.wait_for(memory.pipeline.wait_settled(), 10)
    await asyncio.wait_for(memory.pipeline.finish_epoch(left.id, size), 10)
    assert await memory.read_lines(pane) == ["first", "second", "third"]


async def test_a_deleted_segment_is_a_gap_and_the_text_goes_on_behind_it(memory, pane, epoch):
    memory.write_output(epoch, b"first\r\nhalf")
    await memory.pipeline.wait_settled()
    memory.write_output(epoch, b" a line\r\n")
    missing = memory.epochs.measure_size(epoch)
    memory.write_output(epoch, b"third\r\n")
    left = memory.pipeline.build_folder_path(epoch)
    os.remove(sorted(Path(left).glob("*.raw"))[1])
    await reopened(memory)
    assert await memory.read_lines(pane) == ["first", "half", "third"]
    (gap,) = await memory.list_gaps(pane)
    assert (gap.cause, gap.after, gap.before, gap.end_at is None) == ("log_truncated", epoch.id, epoch.id, False)
    assert f"to {missing}" in gap.detail


async def test_marks_move_the_activity_and_are_stored_when_they_matter(memory, pane, epoch):
    memory.write_output(epoch, b"\x1b]0;a title\x07\x1b]133;A\x1b\\$ \x1b]133;C\x1b\\\r\n")
    await memory.pipeline.wait_settled()
    assert get_activity(memory.pipeline.current_readers[pane]).kind == "command"
    memory.write_output(epoch, b"\x1b]133;D;3\x1b\\")
    await memory.pipeline.wait_settled()
    activity = get_activity(memory.pipeline.current_readers[pane])
    assert (activity.kind, activity.last_exit, activity.is_proven) == ("prompt", 3, False)
    kinds = [mark.kind for _, mark in await memory.store.output.list_marks(pane)]
    assert kinds == ["prompt_start", "command_start", "command_end"]


async def test_the_activity_survives_the_daemon(memory, pane, epoch):
    memory.write_output(epoch, b"\x1b]133;C\x1b\\\r\n")
    await memory.pipeline.wait_settled()
    await reopened(memory)
    assert get_activity(memory.pipeline.current_readers[pane]).kind == "command"


async def test_a_mark_with_our_nonce_is_proven(memory, pane):
    epoch = await memory.reserve_epoch(pane)
    knowing = Pipeline(
        memory.store.output, raw_dir=memory.paths.raw_dir, clock=memory.clock, flush_interval=0.01, nonce="0a1b"
    )
    knowing.open_epoch(epoch)
    flow = asyncio.ensure_future(knowing.run())
    memory.write_output(epoch, b"\x1b]133;A;nonce=0a1b\x1b\\$ ")
    await knowing.wait_settled()
    assert get_activity(knowing.current_readers[pane]).is_proven
    flow.cancel()


async def test_the_alternate_screen_yields_no_lines(memory, pane, epoch):
    memory.write_output(epoch, b"before\r\n\x1b[?1049hpainted\r\nmore paint\r\n")
    assert await memory.read_lines(pane) == ["before"]
    assert get_activity(memory.pipeline.current_readers[pane]).kind == "alt_screen"
    left = await reopened(memory)
    memory.write_output(left, b"still painting\r\n\x1b[?1049lafter\r\n")
    assert await memory.read_lines(pane) == ["before", "after"]


async def test_who_listens_hears_of_output_and_of_what_was_stored(memory, pane, epoch):
    with memory.pipeline.changed_panes.subscribe() as listener:
        memory.write_output(epoch, b"word\r\n")
        await memory.pipeline.wait_settled()
        assert listener.drain() == [pane, pane]


async def test_what_is_heard_is_measured(memory, pane, epoch):
    now = memory.clock.now()
    memory.write_output(epoch, b"12345\r\n", now - 2 * NS)
    await memory.pipeline.wait_settled()
    assert memory.pipeline.captured_bytes == 7
    assert (memory.pipeline.rate_meters[pane].total, memory.pipeline.rate_meters[pane].last_at) == (7, now - 2 * NS)
    assert memory.pipeline.max_lag_s >= memory.pipeline.average_lag_s >= 2.0


async def test_what_was_measured_is_forgotten_with_the_epoch(memory, pane, epoch):
    memory.write_output(epoch, b"12345\r\n")
    await memory.pipeline.finish_epoch(epoch.id, 7)
    assert (memory.pipeline.rate_meters, memory.pipeline.current_readers) == ({}, {})


async def test_a_full_disk_makes_it_late_and_loses_nothing(memory, pane):
    class Full:
        """A store that has no room at first."""

        tries = 0
        record_gap = memory.store.output.record_gap

        async def commit(self, batch):
            Full.tries += 1
            troubles.append(late.storage_error)
            if Full.tries < 3:
                raise StorageError("no room")
            return await memory.store.output.commit(batch)

    troubles: list[str] = []
    late = Pipeline(Full(), raw_dir=memory.paths.raw_dir, clock=HastyClock(), flush_interval=0.01)
    epoch = await memory.reserve_epoch(pane)
    late.open_epoch(epoch)
    memory.write_output(epoch, b"word\r\n")
    flow = asyncio.ensure_future(late.run())
    await wait_until(lambda: late.captured_bytes and len(troubles) == 3 and not late.storage_error)
    assert troubles == ["", *["text cannot be stored: no room"] * 2]
    assert [line.text for line in await memory.store.output.read_lines(pane)] == ["word"]
    flow.cancel()


async def test_nobody_waits_for_text_that_cannot_be_stored(memory, pane):
    class Full:
        async def commit(self, batch):
            raise StorageError("no room")

    late = Pipeline(Full(), raw_dir=memory.paths.raw_dir, clock=HastyClock(), flush_interval=0.01)
    epoch = await memory.reserve_epoch(pane)
    late.open_epoch(epoch)
    memory.write_output(epoch, b"word\r\n")
    flow = asyncio.ensure_future(late.run())
    async with asyncio.timeout(10):
        await late.wait_settled()
        await late.wait_settled()
    assert late.storage_error == "text cannot be stored: no room"
    flow.cancel()


async def test_the_last_bytes_of_an_epoch_that_nobody_told_of_are_read_too(memory, pane):
    data = b"one\r\ntwo\r\n"
    late = Pipeline(memory.store.output, raw_dir=memory.paths.raw_dir, clock=memory.clock, flush_interval=0.01)
    epoch = await memory.reserve_epoch(pane)
    late.open_epoch(epoch)
    SegmentWriter(late.build_folder_path(epoch), 1 << 20).append(data, 1)
    late.note_growth(epoch.id, len(b"one\r\n"))
    finishing = asyncio.ensure_future(late.finish_epoch(epoch.id, len(data)))
    await asyncio.sleep(0)
    flow = asyncio.ensure_future(late.run())
    async with asyncio.timeout(10):
        await finishing
    assert [line.text for line in await memory.store.output.read_lines(pane)] == ["one", "two"]
    flow.cancel()


async def test_a_command_that_printed_nothing_is_news_once_it_is_stored(memory, pane, epoch):
    memory.write_output(epoch, b"\x1b]133;C;cmdline=true\x07")
    await memory.pipeline.wait_settled()
    with memory.pipeline.changed_panes.subscribe() as news:
        memory.write_output(epoch, b"\x1b]133;D;0\x07")
        await memory.pipeline.wait_settled()
        assert news.drain() == [pane, pane]  # read, then stored
    assert [command.status for command in await memory.store.commands.list()] == ["finished"]


async def test_a_user_variable_is_stored_with_its_bytes_and_then_told(memory, pane, epoch):
    with memory.pipeline.events.subscribe() as news:
        memory.write_output(
            epoch, b"\x1b]1337;SetUserVar=visor-ready=e30=\x07\x1b]1337;SetUserVar=other=e30=\x07", at=5
        )
        await memory.pipeline.wait_settled()
        told = news.drain()
    assert told == await memory.store.events.list(pane=pane)
    assert [(event.at, event.data["name"]) for event in told] == [(5, "visor-ready")]
    assert [mark.params["name"] for _, mark in await memory.store.output.list_marks(pane)] == ["other"]
    await reopened(memory)
    await memory.pipeline.wait_settled()
    assert len(await memory.store.events.list(pane=pane)) == 1


@pytest.mark.parametrize("line", [b"y\r\n", b"a line of some length that says a little more than yes\r\n"])
async def test_what_waits_to_be_stored_is_bounded_in_memory_however_short_its_lines_are(memory, pane, line):
    epoch, sizes = await memory.reserve_epoch(pane), []

    class Weighing:
        async def commit(self, batch):
            sizes.append(
                sum(len(block.lines) * 64 + sum(map(len, block.lines)) for one in batch for block in one.blocks)
            )
            return await memory.store.output.commit(batch)

    memory.write_output(epoch, line * (4_000_000 // len(line)))
    heavy = Pipeline(Weighing(), raw_dir=memory.paths.raw_dir, clock=memory.clock, flush_interval=60.0)
    heavy.open_epoch(epoch)
    flow = asyncio.ensure_future(heavy.run())
    await heavy.wait_settled()
    flow.cancel()
    assert sum(sizes) > 4_000_000
    assert max(sizes) < 9_000_000


async def test_lines_that_may_be_meant_for_programs_are_told_without_secrets(memory, epoch):
    told = []
    memory.pipeline.printed = lambda of, lines: told.extend((of.id, line.at, line.text) for line in lines)
    now = memory.clock.now()
    memory.write_output(epoch, b'{"type":"x","key":"%s"}\r\nelse\r\n' % KEY.encode(), now)
    await wait_until(lambda: told)
    ((of, at, text),) = told
    assert (of, at) == (epoch.id, now)
    assert text.startswith('{"type":"x","key":"')
    assert KEY not in text


async def test_what_a_program_printed_before_it_ended_is_read_at_once_when_asked(memory, pane, epoch):
    told = []
    memory.pipeline.printed = lambda of, lines: told.extend(line.text for line in lines)
    memory.write_output(epoch, b'{"type":"x"}\r\n', memory.clock.now())
    memory.pipeline.read_pane_now(pane)
    assert told == ['{"type":"x"}']
    assert await memory.read_lines(pane) == ['{"type":"x"}']
    memory.pipeline.read_pane_now(pane)
    assert told == ['{"type":"x"}']

"""The table of streams and their changes."""

import os

import pytest

from termvisor.recorder.pane_streams import StreamTable
from termvisor.recorder.segment_log import FLAG_CAPPED, FLAG_ENDED, SegmentReader
from termvisor.recorder.sockets import Poller
from termvisor.recorder.startup import RecorderOptions


@pytest.fixture
def table(tmp_path):
    table = StreamTable(RecorderOptions("", str(tmp_path), 1000, 1000), Poller())
    yield table
    table.drop_all()


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    os.close(writer)


def test_growth_and_end_are_changes_until_they_are_taken(table, pipe):
    reader, writer = pipe
    assert table.hold_stream(b"1/2", [reader]) == b"ok"
    assert list(table.changed_epochs) == [2]
    table.changed_epochs = {}
    table.pump_stream(reader)
    assert (table.changed_epochs, table.unreported_bytes) == ({}, 0)
    os.write(writer, b"abc")
    table.pump_stream(reader)
    assert (list(table.changed_epochs), table.unreported_bytes) == ([2], 3)


def test_a_refused_descriptor_is_closed(table, pipe):
    reader, _ = pipe
    assert table.hold_stream(b"nonsense", [reader]) == b"refused name"
    with pytest.raises(OSError):
        os.fstat(reader)


def test_only_ended_streams_can_be_forgotten(table, pipe):
    reader, _ = pipe
    table.hold_stream(b"1/2", [reader])
    assert not table.forget_stream(2)
    table.drop_stream(2)
    assert (table.forget_stream(2), table.forget_stream(2), table.streams_by_epoch) == (True, False, {})


def test_dropping_reads_the_pending_bytes_and_cutting_does_not(table, tmp_path):
    pipes = [os.pipe(), os.pipe()]
    for epoch, (reader, writer) in enumerate(pipes):
        table.hold_stream(b"1/%d" % epoch, [reader])
        os.write(writer, b"waiting")
    table.drop_stream(0)
    table.close_all(FLAG_CAPPED)
    ended = [
        (SegmentReader(f"{tmp_path}/1/{epoch}").read_size(), table.streams_by_epoch[epoch].close_flag)
        for epoch in (0, 1)
    ]
    assert ended == [(7, FLAG_ENDED), (0, FLAG_CAPPED)]
    for _, writer in pipes:
        os.close(writer)


def test_a_resumed_stream_continues_at_its_offset(table, pipe, tmp_path):
    reader, writer = pipe
    table.resume_stream(1, 2, reader, 500, 9 * 10**18)
    table.restore_closed_stream(1, 3, 77, FLAG_CAPPED)
    os.write(writer, b"abc")
    table.pump_stream(reader)
    log = SegmentReader(f"{tmp_path}/1/2")
    assert list(log.read_pieces(0, 100)) == [(500, b"abc", 9 * 10**18)]
    assert (table.streams_by_epoch[2].size, table.streams_by_epoch[3].size, table.streams_by_epoch[3].close_flag) == (
        503,
        77,
        FLAG_CAPPED,
    )
    log.close()

"""Which streams there are, and what changed since somebody looked."""

import os

import pytest

from termvisor.recorder.options import Options
from termvisor.recorder.poller import Poller
from termvisor.recorder.segment_log import CAPPED, ENDED, SegmentReader
from termvisor.recorder.stream_table import Table


@pytest.fixture
def table(tmp_path):
    table = Table(Options("", str(tmp_path), 1000, 1000), Poller())
    yield table
    table.drop_all()


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    os.close(writer)


def test_growth_and_end_are_news_until_they_are_taken(table, pipe):
    reader, writer = pipe
    assert table.hold(b"1/2", [reader]) == b"ok"
    assert list(table.news) == [2]
    table.news = {}
    table.pump(reader)
    assert (table.news, table.written) == ({}, 0)
    os.write(writer, b"abc")
    table.pump(reader)
    assert (list(table.news), table.written) == ([2], 3)


def test_a_refused_descriptor_is_closed(table, pipe):
    reader, _ = pipe
    assert table.hold(b"nonsense", [reader]) == b"refused name"
    with pytest.raises(OSError):
        os.fstat(reader)


def test_only_what_ended_can_be_forgotten(table, pipe):
    reader, _ = pipe
    table.hold(b"1/2", [reader])
    assert not table.forget(2)
    table.drop(2)
    assert (table.forget(2), table.forget(2), table.streams) == (True, False, {})


def test_dropping_takes_what_waits_and_cutting_does_not(table, tmp_path):
    pipes = [os.pipe(), os.pipe()]
    for epoch, (reader, writer) in enumerate(pipes):
        table.hold(b"1/%d" % epoch, [reader])
        os.write(writer, b"waiting")
    table.drop(0)
    table.cut_all(CAPPED)
    ended = [(SegmentReader(f"{tmp_path}/1/{epoch}").size(), table.streams[epoch].closed_by) for epoch in (0, 1)]
    assert ended == [(7, ENDED), (0, CAPPED)]
    for _, writer in pipes:
        os.close(writer)


def test_what_an_earlier_image_held_goes_on_at_its_offset(table, pipe, tmp_path):
    reader, writer = pipe
    table.resume(1, 2, reader, 500, 9 * 10**18)
    table.remember(1, 3, 77, CAPPED)
    os.write(writer, b"abc")
    table.pump(reader)
    log = SegmentReader(f"{tmp_path}/1/2")
    assert list(log.pieces(0, 100)) == [(500, b"abc", 9 * 10**18)]
    assert (table.streams[2].size, table.streams[3].size, table.streams[3].closed_by) == (503, 77, CAPPED)
    log.close()

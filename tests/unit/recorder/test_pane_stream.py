"""One pipe, pumped into its log."""

import fcntl
import os
import pty

import pytest

from termvisor.recorder.pane_streams import _READS_WHEN_CLOSING, READ_BYTES, PaneStream
from termvisor.recorder.segment_log import FLAG_CAPPED, FLAG_ENDED, SegmentReader, SegmentWriter


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    yield reader, os.fdopen(writer, "wb", buffering=0)


def held(folder, fd):
    return PaneStream(1, 2, fd, SegmentWriter(str(folder), 1 << 20))


def test_it_takes_what_is_there_and_goes_on_until_the_end(tmp_path, pipe):
    reader, writer = pipe
    stream = held(tmp_path, reader)
    assert (stream.pump(), stream.size) == (0, 0)
    writer.write(b"abc")
    assert (stream.pump(), stream.size) == (0, 3)
    writer.close()
    assert stream.pump() == FLAG_ENDED
    stream.finish(FLAG_ENDED)
    assert (stream.close_flag, stream.fd, SegmentReader(str(tmp_path)).read_size()) == (FLAG_ENDED, -1, 3)


def test_a_flood_gets_a_few_reads_a_turn(tmp_path):
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    fcntl.fcntl(theirs, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.write(theirs, b"x" * (1 << 20))
    stream = held(tmp_path, ours)
    assert (stream.pump(), stream.size) == (0, 4 * READ_BYTES)
    assert (stream.pump(_READS_WHEN_CLOSING), stream.size) == (0, 1 << 20)
    os.close(theirs)
    stream.finish(FLAG_ENDED)


def test_a_terminal_whose_program_is_gone_has_ended(tmp_path):
    ours, theirs = pty.openpty()
    stream = held(tmp_path, ours)
    os.close(theirs)
    assert stream.pump() == FLAG_ENDED
    stream.finish(FLAG_ENDED)


def test_a_log_that_cannot_be_written_closes_the_stream_and_frees_its_descriptors(tmp_path, pipe):
    reader, writer = pipe
    (tmp_path / "file").touch()
    stream = held(tmp_path / "file" / "folder", reader)
    writer.write(b"abc")
    assert stream.pump() == FLAG_CAPPED
    stream.finish(FLAG_CAPPED)
    assert (stream.close_flag, stream.size) == (FLAG_CAPPED, 0)
    with pytest.raises(BrokenPipeError):
        writer.write(b"x")
    writer.close()

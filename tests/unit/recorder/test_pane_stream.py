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


def build_stream(folder, fd):
    return PaneStream(1, 2, fd, SegmentWriter(str(folder), 1 << 20))


def test_a_stream_is_read_until_its_end(tmp_path, pipe):
    reader, writer = pipe
    stream = build_stream(tmp_path, reader)
    assert (stream.pump(), stream.size) == (0, 0)
    writer.write(b"abc")
    assert (stream.pump(), stream.size) == (0, 3)
    writer.close()
    assert stream.pump() == FLAG_ENDED
    stream.finish(FLAG_ENDED)
    assert (stream.close_flag, stream.fd, SegmentReader(str(tmp_path)).read_size()) == (FLAG_ENDED, -1, 3)


def test_a_flood_gets_a_bounded_number_of_reads_per_turn(tmp_path):
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20)
    os.write(writer, b"x" * (1 << 20))
    stream = build_stream(tmp_path, reader)
    assert (stream.pump(), stream.size) == (0, 4 * READ_BYTES)
    assert (stream.pump(_READS_WHEN_CLOSING), stream.size) == (0, 1 << 20)
    os.close(writer)
    stream.finish(FLAG_ENDED)


def test_a_terminal_whose_program_exited_has_ended(tmp_path):
    reader, writer = pty.openpty()
    stream = build_stream(tmp_path, reader)
    os.close(writer)
    assert stream.pump() == FLAG_ENDED
    stream.finish(FLAG_ENDED)


def test_a_log_that_cannot_be_written_closes_the_stream_and_frees_its_descriptors(tmp_path, pipe):
    reader, writer = pipe
    (tmp_path / "file").touch()
    stream = build_stream(tmp_path / "file" / "folder", reader)
    writer.write(b"abc")
    assert stream.pump() == FLAG_CAPPED
    stream.finish(FLAG_CAPPED)
    assert (stream.close_flag, stream.size) == (FLAG_CAPPED, 0)
    with pytest.raises(BrokenPipeError):
        writer.write(b"x")
    writer.close()

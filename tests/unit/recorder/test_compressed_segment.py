"""Read and write compressed segments."""

import errno
import os

import pytest
import zstandard

from termvisor.recorder import compressed_segment
from termvisor.recorder.compressed_segment import FRAME_BYTES, CompressedSegmentFile, CompressedSegmentWriter

TEXT = b"".join(b"%d bottles\r\n" % number for number in range(60_000))


@pytest.fixture
def path(tmp_path) -> str:
    return str(tmp_path / "0000000000000000.raw.zst")


def write_compressed(path: str, *portions: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    writer = CompressedSegmentWriter(descriptor)
    for data in portions:
        writer.write(data)
    writer.finish()
    os.close(descriptor)


def test_any_slice_is_read_back(path):
    write_compressed(path, TEXT[:70_001], TEXT[70_001:])
    file = CompressedSegmentFile(path)
    assert file.read_size() == len(TEXT)
    assert file.read(len(TEXT), 0) == TEXT
    for place in (0, FRAME_BYTES - 3, FRAME_BYTES, len(TEXT) - 2):
        assert file.read(7, place) == TEXT[place : place + 7]
    assert file.read(5, len(TEXT)) == b""
    file.close()


def test_a_compressed_segment_is_smaller_and_keeps_its_time(path):
    write_compressed(path, TEXT)
    os.utime(path, ns=(5, 77))
    file = CompressedSegmentFile(path)
    assert os.path.getsize(path) < len(TEXT) / 4
    assert file.read_mtime() == 77
    file.close()


def test_reading_within_one_frame_decompresses_it_once(path, monkeypatch):
    write_compressed(path, TEXT)
    file = CompressedSegmentFile(path)
    reads = []
    pread = os.pread
    monkeypatch.setattr(compressed_segment.os, "pread", lambda *wanted: reads.append(wanted) or pread(*wanted))
    for place in range(FRAME_BYTES, FRAME_BYTES + 1000, 10):
        file.read(10, place)
    assert len(reads) == 1
    file.close()


def test_an_empty_segment_can_be_compressed(path):
    write_compressed(path)
    file = CompressedSegmentFile(path)
    assert (file.read_size(), file.read(10, 0)) == (0, b"")
    file.close()


@pytest.mark.parametrize("cut", [0, 5, 1000])
def test_a_truncated_file_raises_an_error(path, cut):
    write_compressed(path, TEXT)
    os.truncate(path, cut)
    with pytest.raises(OSError, match="damaged") as caught:
        CompressedSegmentFile(path)
    assert (caught.value.errno, caught.value.filename) == (errno.EIO, path)


def test_damaged_bytes_are_an_error_and_never_wrong_bytes(path):
    write_compressed(path, TEXT)
    with open(path, "r+b") as file:
        file.seek(500)
        file.write(b"\xff" * 8)
    damaged = CompressedSegmentFile(path)
    with pytest.raises(OSError, match="damaged"):
        damaged.read(10, 0)
    assert damaged.read(10, FRAME_BYTES) == TEXT[FRAME_BYTES : FRAME_BYTES + 10]
    damaged.close()


def test_any_zstd_reader_decompresses_a_segment(path):
    write_compressed(path, TEXT)
    with open(path, "rb") as file, zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as reader:
        assert reader.read() == TEXT

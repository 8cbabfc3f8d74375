"""Segments read back exactly what was written; truncated segments never raise or return other bytes."""

import os
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from termvisor.recorder.segment_log import FLAG_ENDED, SegmentReader, SegmentWriter

portions = st.lists(st.tuples(st.binary(min_size=1, max_size=40), st.integers(0, 10**9)), max_size=30)
segment_sizes = st.integers(1, 200)


def write_segments(folder: str, segment_bytes: int, appends: list[tuple[bytes, int]]) -> tuple[bytes, list[int]]:
    """Write a log; return all bytes and the time of each byte."""
    writer, at, times = SegmentWriter(folder, segment_bytes), 0, []
    for data, delay in appends:
        at += delay
        writer.append(data, at)
        times += [at] * len(data)
    writer.write_end(FLAG_ENDED, at)
    writer.close()
    return b"".join(data for data, _ in appends), times


@given(portions, segment_sizes, st.integers(1, 100))
def test_written_bytes_read_back_exactly_with_rising_times(appends, segment_bytes, step):
    with tempfile.TemporaryDirectory() as folder:
        whole, times = write_segments(folder, segment_bytes, appends)
        reader, pieces = SegmentReader(folder), []
        for offset in range(0, len(whole), step):
            pieces += reader.read_pieces(offset, step)
        times_read = [at for _, _, at in pieces]
        assert b"".join(data for _, data, _ in pieces) == whole
        assert times_read == sorted(times_read)
        assert [reader.find_read_time(offset) for offset in range(len(whole))] == times
        assert (reader.read_size(), reader.read_end()) == (len(whole), (FLAG_ENDED, times[-1] if times else 0))
        reader.close()


@given(portions, segment_sizes, st.integers(0, 1200))
def test_a_piece_carries_the_time_of_its_last_byte(appends, segment_bytes, start):
    with tempfile.TemporaryDirectory() as folder:
        _, times = write_segments(folder, segment_bytes, appends)
        reader = SegmentReader(folder)
        pieces = list(reader.read_pieces(start, 1 << 20))
        assert [at for _, _, at in pieces] == [times[offset + len(data) - 1] for offset, data, _ in pieces]
        assert all(times[offset + len(data) - 1] - times[offset] <= 10**8 for offset, data, _ in pieces)
        reader.close()


@given(portions, segment_sizes, st.data())
def test_truncated_segments_never_raise_and_return_only_written_bytes(appends, segment_bytes, draws):
    with tempfile.TemporaryDirectory() as folder:
        whole, _ = write_segments(folder, segment_bytes, appends)
        for name in sorted(os.listdir(folder)):
            path = f"{folder}/{name}"
            os.truncate(path, draws.draw(st.integers(0, os.path.getsize(path)), name))
        reader, offset = SegmentReader(folder), 0
        kept = sum(os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder) if name.endswith(".raw"))
        while pieces := list(reader.read_pieces(offset, 1 << 20)):
            for start, data, at in pieces:
                assert start >= offset
                assert data == whole[start : start + len(data)]
                assert at >= 0
                offset, kept = start + len(data), kept - len(data)
        assert kept == 0
        assert reader.read_size() <= len(whole)
        assert reader.read_end() is None or reader.read_end()[0] == FLAG_ENDED
        reader.close()

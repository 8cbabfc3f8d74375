"""Write and read streams on disk, also after damage to the files."""

import os
import resource
from contextlib import contextmanager

import pytest

from termvisor.recorder.segment_log import FLAG_CAPPED, FLAG_ENDED, SegmentReader, SegmentWriter

SECOND = 1_000_000_000


@contextmanager
def file_size_limit(size):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def folder(tmp_path):
    return f"{tmp_path}/1/2"


@pytest.fixture
def reader(folder):
    reader = SegmentReader(folder)
    yield reader
    reader.close()


def write(folder, *appends, segment_bytes=1000):
    writer = SegmentWriter(folder, segment_bytes)
    for data, at in appends:
        writer.append(data, at)
    return writer


def test_a_missing_stream_is_empty(reader):
    assert (reader.read_size(), reader.read_end(), list(reader.read_pieces(0, 100)), reader.find_read_time(0)) == (
        0,
        None,
        [],
        0,
    )


def test_bytes_are_read_with_their_times(folder, reader):
    write(folder, (b"abc", SECOND), (b"de", 3 * SECOND)).close()
    assert list(reader.read_pieces(0, 100)) == [(0, b"abc", SECOND), (3, b"de", 3 * SECOND)]
    assert [reader.find_read_time(n) for n in range(5)] == [SECOND] * 3 + [3 * SECOND] * 2


def test_reads_within_a_tenth_of_a_second_are_one_piece(folder, reader):
    write(folder, (b"a", 0), (b"b", SECOND // 10), (b"c", SECOND // 10 + 1)).close()
    assert list(reader.read_pieces(0, 100)) == [(0, b"ab", SECOND // 10), (2, b"c", SECOND // 10 + 1)]


def test_a_piece_has_at_most_64_kb(folder, reader):
    write(folder, (b"a" * 60_000, 1), (b"b" * 60_000, 2), (b"c" * 200_000, 3), segment_bytes=1 << 20).close()
    lengths = [len(data) for _, data, _ in reader.read_pieces(0, 1 << 30)]
    assert sum(lengths) == 320_000
    assert max(lengths) <= 1 << 16


def test_no_more_than_the_limit_is_read(folder, reader):
    write(folder, (b"abcdef", 5), (b"ghi", 6), segment_bytes=4).close()
    assert list(reader.read_pieces(2, 3)) == [(2, b"cde", 5)]
    assert list(reader.read_pieces(5, 2)) == [(5, b"f", 5), (6, b"g", 6)]


def test_segments_are_named_by_their_start(folder):
    write(folder, (b"abcdef", 1), (b"gh", 2), (b"ij", 3), segment_bytes=4).close()
    assert sorted(os.listdir(folder)) == [
        "0000000000000000.idx",
        "0000000000000000.raw",
        "0000000000000006.idx",
        "0000000000000006.raw",
    ]


def test_an_index_record_is_a_flagged_end_offset_and_a_time(folder):
    writer = write(folder, (b"abc", 7))
    writer.write_end(FLAG_CAPPED, 9)
    writer.close()
    with open(f"{folder}/{0:016d}.idx", "rb") as index:
        values = memoryview(index.read()).cast("Q").tolist()
    assert values == [3, 7, 2 << 56 | 3, 9]


@pytest.mark.parametrize("flag", [FLAG_ENDED, FLAG_CAPPED])
def test_the_end_record_has_flag_and_time(folder, reader, flag):
    writer = write(folder, (b"abc", 7))
    assert reader.read_end() is None
    writer.write_end(flag, 9)
    writer.close()
    assert (reader.read_end(), reader.read_size()) == ((flag, 9), 3)


def test_an_empty_stream_can_end(folder, reader):
    writer = write(folder)
    writer.write_end(FLAG_ENDED, 9)
    writer.close()
    assert (reader.read_end(), reader.read_size(), list(reader.read_pieces(0, 9))) == ((FLAG_ENDED, 9), 0, [])


def test_a_tail_is_read_as_it_grows_over_segments(folder, reader):
    writer = write(folder, segment_bytes=10)
    seen = b""
    for n in range(50):
        writer.append(b"%03d" % n, n * SECOND)
        pieces = list(reader.read_pieces(len(seen), 1 << 20))
        assert [at for _, _, at in pieces] == [n * SECOND]
        seen += b"".join(data for _, data, _ in pieces)
    writer.close()
    assert seen == b"".join(b"%03d" % n for n in range(50))


def test_a_reader_seeks_among_very_many_index_records(folder, reader):
    writer = write(folder, segment_bytes=1 << 20)
    for n in range(3000):
        writer.append(b"x", n * SECOND)
    writer.close()
    places = [2999, 0, 1500, 511, 512, 513, 2000]
    assert [next(reader.read_pieces(n, 1)) for n in places] == [(n, b"x", n * SECOND) for n in places]


def test_a_writer_that_continues_starts_a_new_segment(folder, reader):
    first = write(folder, (b"abc", 5))
    first.close()
    second = SegmentWriter(folder, 1000, first.offset, first.last_at)
    second.append(b"def", 3)
    second.close()
    assert list(reader.read_pieces(0, 10)) == [(0, b"abc", 5), (3, b"def", 5)]


def test_a_writer_never_writes_into_an_existing_segment(folder):
    write(folder, (b"abc", 5)).close()
    with pytest.raises(FileExistsError):
        write(folder, (b"def", 6))


def test_a_clock_set_back_does_not_make_times_decrease(folder, reader):
    write(folder, (b"a", 5 * SECOND), (b"b", 1 * SECOND)).close()
    assert [at for _, _, at in reader.read_pieces(0, 10)] == [5 * SECOND]


def test_a_torn_index_record_loses_a_time_but_no_bytes(folder, reader):
    write(folder, (b"abc", 5), (b"def", 6)).close()
    os.truncate(f"{folder}/{0:016d}.idx", 27)
    os.utime(f"{folder}/{0:016d}.raw", ns=(8, 8))
    assert list(reader.read_pieces(0, 10)) == [(0, b"abc", 5), (3, b"def", 8)]


def test_without_an_index_the_file_time_is_used(folder, reader):
    write(folder, (b"abc", 5)).close()
    os.remove(f"{folder}/{0:016d}.idx")
    os.utime(f"{folder}/{0:016d}.raw", ns=(8, 8))
    assert list(reader.read_pieces(0, 10)) == [(0, b"abc", 8)]
    assert (reader.find_read_time(1), reader.read_end()) == (8, None)


def test_a_raw_file_shorter_than_its_index_is_read_to_its_end(folder, reader):
    write(folder, (b"abc", 5), (b"def", 6)).close()
    os.truncate(f"{folder}/{0:016d}.raw", 4)
    assert (reader.read_size(), list(reader.read_pieces(0, 10))) == (4, [(0, b"abc", 5), (3, b"d", 6)])


def test_reading_stops_at_a_hole_and_the_bytes_after_it_are_found(folder, reader):
    write(folder, (b"abcd", 5), (b"efgh", 6), (b"ijkl", 7), segment_bytes=4).close()
    os.truncate(f"{folder}/{4:016d}.raw", 1)
    assert list(reader.read_pieces(0, 100)) == [(0, b"abcd", 5), (4, b"e", 6)]
    assert list(reader.read_pieces(5, 2)) == [(8, b"ij", 7)]


def test_after_deleted_segments_reading_starts_at_the_first_kept_one(folder, reader):
    write(folder, (b"abcd", 5), (b"efgh", 6), segment_bytes=4).close()
    os.remove(f"{folder}/{0:016d}.raw")
    os.remove(f"{folder}/{0:016d}.idx")
    assert (list(reader.read_pieces(0, 2)), reader.read_size()) == ([(4, b"ef", 6)], 8)


def test_a_closed_reader_can_be_used_again(folder, reader):
    write(folder, (b"abc", 5)).close()
    before = len(os.listdir("/proc/self/fd"))
    assert list(reader.read_pieces(0, 1))
    reader.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert list(reader.read_pieces(1, 9)) == [(1, b"bc", 5)]


def test_a_partial_write_is_counted(folder, reader):
    writer = SegmentWriter(folder, 1000)
    with file_size_limit(100), pytest.raises(OSError, match="too large"):
        writer.append(b"x" * 150, 5)
    assert writer.offset == 100
    writer.write_end(FLAG_CAPPED, 6)
    writer.close()
    assert (list(reader.read_pieces(0, 1000)), reader.read_end()) == ([(0, b"x" * 100, 5)], (FLAG_CAPPED, 6))


@pytest.mark.parametrize("limit", [160, 167])
def test_bytes_without_an_index_record_are_truncated(folder, reader, limit):
    writer = write(folder, *[(b"x", 5)] * 10)
    with file_size_limit(limit), pytest.raises(OSError):
        writer.append(b"y", 5)
    assert writer.offset == 10
    writer.write_end(FLAG_CAPPED, 6)
    writer.close()
    assert (list(reader.read_pieces(0, 1000)), reader.read_end()) == ([(0, b"x" * 10, 5)], (FLAG_CAPPED, 6))


def test_without_a_new_segment_the_old_one_gets_the_closing_record(folder, reader):
    writer = write(folder, (b"abcd", 5), segment_bytes=4)
    os.mkdir(f"{folder}/{4:016d}.raw")
    with pytest.raises(OSError):
        writer.append(b"efgh", 6)
    writer.write_end(FLAG_CAPPED, 7)
    writer.close()
    os.rmdir(f"{folder}/{4:016d}.raw")
    assert (reader.read_size(), reader.read_end()) == (4, (FLAG_CAPPED, 7))


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_segment_that_was_cut_or_deleted_is_followed_by_a_new_one_at_the_right_offset(folder, reader, is_deleted):
    writer = write(folder, (b"0123456789", SECOND))
    path = f"{folder}/{0:016d}.raw"
    if is_deleted:
        os.unlink(path)
    else:
        os.truncate(path, 4)
    writer.append(b"abc", 2 * SECOND)
    writer.append(b"def", 3 * SECOND)
    assert (writer.offset, sorted(os.listdir(folder))[-1]) == (16, f"{10:016d}.raw")
    assert [piece[:2] for piece in reader.read_pieces(10, 100, 0)] == [(10, b"abc"), (13, b"def")]
    assert next(piece[0] for piece in reader.read_pieces(5, 100, 0)) == 10
    writer.close()

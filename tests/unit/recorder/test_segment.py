"""One segment, read while it is written or after it was damaged."""

import os

import pytest

from termvisor.recorder.segment import (
    FLAG_CAPPED,
    FLAG_READ,
    Segment,
    build_index_path,
    build_raw_path,
    get_file_size,
    list_segment_starts,
    pack_index_record,
)

SECOND = 1_000_000_000


@pytest.fixture
def write_segment(tmp_path):
    """Return a function that writes the files of a segment starting at 100 and opens it."""
    opened = []

    def write_segment(raw: bytes, index: bytes | None) -> Segment:
        (tmp_path / f"{100:016d}.raw").write_bytes(raw)
        os.utime(build_raw_path(str(tmp_path), 100), ns=(77, 77))
        (tmp_path / f"{100:016d}.idx").write_bytes(index or b"")
        opened.append(Segment(str(tmp_path), 100))
        return opened[-1]

    yield write_segment
    for segment in opened:
        segment.close()


def test_only_regular_files_are_segments(tmp_path):
    for name in ("5.raw", "²³.raw", "000000000000000x.raw", "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠.raw"):
        (tmp_path / name).write_bytes(b"x")
    assert list_segment_starts(str(tmp_path)) == []
    os.mkfifo(build_raw_path(str(tmp_path), 7))
    (tmp_path / f"{9:016d}.raw").mkdir()
    for start in list_segment_starts(str(tmp_path)):
        with pytest.raises(FileNotFoundError):
            Segment(str(tmp_path), start)
        assert get_file_size(build_raw_path(str(tmp_path), start)) == 0


def test_names_sort_as_their_offsets_do():
    assert build_raw_path("f", 5) == "f/0000000000000005.raw"
    assert build_index_path("f", 10**15) == "f/1000000000000000.idx"


def test_only_segments_are_listed_in_order(tmp_path):
    for name in ("0000000000000020.raw", "0000000000000003.raw", "0000000000000003.idx", "x.raw", "notes"):
        (tmp_path / name).touch()
    assert list_segment_starts(str(tmp_path)) == [3, 20]
    assert list_segment_starts(f"{tmp_path}/nowhere") == []


def test_offsets_count_from_the_start_of_the_epoch(write_segment):
    segment = write_segment(
        b"abcdef", pack_index_record(FLAG_READ, 103, 1) + pack_index_record(FLAG_READ, 106, 2 * SECOND)
    )
    assert segment.read_end() == 106
    assert list(segment.read_pieces(101, 105)) == [(101, b"bc", 1), (103, b"de", 2 * SECOND)]


def test_bytes_beyond_the_index_have_the_time_of_the_file(write_segment):
    assert list(write_segment(b"abcdef", pack_index_record(FLAG_READ, 103, 5)).read_pieces(100, 200)) == [
        (100, b"abc", 5),
        (103, b"def", 77),
    ]


def test_times_do_not_decrease_where_the_index_ends(write_segment):
    assert list(write_segment(b"abcdef", pack_index_record(FLAG_READ, 103, 99)).read_pieces(100, 200)) == [
        (100, b"abc", 99),
        (103, b"def", 99),
    ]


@pytest.mark.parametrize("garbage", [b"\0" * 64, b"\xff" * 64, b"\1" * 33])
def test_a_damaged_index_loses_times_but_no_bytes(write_segment, garbage):
    pieces = list(write_segment(b"abcdef", garbage).read_pieces(100, 200))
    assert b"".join(data for _, data, _ in pieces) == b"abcdef"


def test_an_index_written_later_is_found(write_segment, tmp_path):
    segment = write_segment(b"abc", None)
    os.remove(build_index_path(str(tmp_path), 100))
    assert segment.find_read_time(100) == 77
    (tmp_path / f"{100:016d}.idx").write_bytes(pack_index_record(FLAG_READ, 103, 5))
    assert segment.find_read_time(100) == 5


def test_the_closing_record_is_the_last_one(write_segment):
    assert write_segment(b"abc", pack_index_record(FLAG_READ, 103, 5)).read_closing_record() is None
    assert write_segment(
        b"abc", pack_index_record(FLAG_READ, 103, 5) + pack_index_record(FLAG_CAPPED, 103, 6) + b"torn"
    ).read_closing_record() == (FLAG_CAPPED, 6)

"""One segment, read while it is written or after it was damaged."""

import os

import pytest

from termvisor.recorder.segment import CAPPED, READ, Segment, index_name, pack, raw_name, size_of, starts

SECOND = 1_000_000_000


@pytest.fixture
def put(tmp_path):
    """Writes the files of a segment that starts at 100 and opens it."""
    opened = []

    def put(raw: bytes, index: bytes | None) -> Segment:
        (tmp_path / f"{100:016d}.raw").write_bytes(raw)
        os.utime(raw_name(str(tmp_path), 100), ns=(77, 77))
        (tmp_path / f"{100:016d}.idx").write_bytes(index or b"")
        opened.append(Segment(str(tmp_path), 100))
        return opened[-1]

    yield put
    for segment in opened:
        segment.close()


def test_what_is_no_plain_file_of_ours_is_no_segment(tmp_path):
    for name in ("5.raw", "²³.raw", "000000000000000x.raw", "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠.raw"):
        (tmp_path / name).write_bytes(b"x")
    assert starts(str(tmp_path)) == []
    os.mkfifo(raw_name(str(tmp_path), 7))
    (tmp_path / f"{9:016d}.raw").mkdir()
    for start in starts(str(tmp_path)):
        with pytest.raises(FileNotFoundError):
            Segment(str(tmp_path), start)
        assert size_of(raw_name(str(tmp_path), start)) == 0


def test_names_sort_as_their_offsets_do():
    assert raw_name("f", 5) == "f/0000000000000005.raw"
    assert index_name("f", 10**15) == "f/1000000000000000.idx"


def test_only_segments_are_listed_in_order(tmp_path):
    for name in ("0000000000000020.raw", "0000000000000003.raw", "0000000000000003.idx", "x.raw", "notes"):
        (tmp_path / name).touch()
    assert starts(str(tmp_path)) == [3, 20]
    assert starts(f"{tmp_path}/nowhere") == []


def test_offsets_count_from_the_start_of_the_epoch(put):
    segment = put(b"abcdef", pack(READ, 103, 1) + pack(READ, 106, 2 * SECOND))
    assert segment.end() == 106
    assert list(segment.pieces(101, 105)) == [(101, b"bc", 1), (103, b"de", 2 * SECOND)]


def test_bytes_beyond_the_index_have_the_time_of_the_file(put):
    assert list(put(b"abcdef", pack(READ, 103, 5)).pieces(100, 200)) == [(100, b"abc", 5), (103, b"def", 77)]


def test_times_do_not_fall_where_the_index_stops(put):
    assert list(put(b"abcdef", pack(READ, 103, 99)).pieces(100, 200)) == [(100, b"abc", 99), (103, b"def", 99)]


@pytest.mark.parametrize("garbage", [b"\0" * 64, b"\xff" * 64, b"\1" * 33])
def test_an_index_of_garbage_costs_times_and_no_bytes(put, garbage):
    pieces = list(put(b"abcdef", garbage).pieces(100, 200))
    assert b"".join(data for _, data, _ in pieces) == b"abcdef"


def test_an_index_that_comes_later_is_found(put, tmp_path):
    segment = put(b"abc", None)
    os.remove(index_name(str(tmp_path), 100))
    assert segment.time_of(100) == 77
    (tmp_path / f"{100:016d}.idx").write_bytes(pack(READ, 103, 5))
    assert segment.time_of(100) == 5


def test_the_closing_record_is_the_last_one(put):
    assert put(b"abc", pack(READ, 103, 5)).closing() is None
    assert put(b"abc", pack(READ, 103, 5) + pack(CAPPED, 103, 6) + b"torn").closing() == (CAPPED, 6)

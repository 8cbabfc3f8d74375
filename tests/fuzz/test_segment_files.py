"""Any folder as a segment log: reading ends, never raises, and returns only bytes from its files."""

import os
import tempfile

from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.recorder.segment import build_index_path, build_raw_path, pack_index_record
from termvisor.recorder.segment_log import SegmentReader
from tests.fuzz.example_count import build_settings

MAX_TIME_NS = (1 << 63) - 1
ODD_NAMES = [
    *(
        "5.raw",
        "²³.raw",
        "٣.raw",
        ".raw",
        "x.raw",
        "-1.raw",
        "0000000000000000.RAW",
        "0000000000000000.raw~",
        "1e3.raw",
    ),
    *("00000000000000000000000007.raw", "9" * 200 + ".raw", "\udcff.raw", "0000000000000009.idx", "٠" * 16 + ".raw"),
]
starts = st.sampled_from([0, 1, 3, 8, 40, 1 << 40])
whole_numbers = st.integers(0, (1 << 64) - 1) | st.integers(0, 60)
records = st.lists(
    st.builds(
        pack_index_record, st.integers(0, 255), st.integers(0, (1 << 56) - 1) | st.integers(0, 60), whole_numbers
    ),
    max_size=6,
).map(b"".join)
truncated_records = st.builds(lambda data, cut: data[: max(0, len(data) - cut)], records, st.integers(0, 16))
indexes = st.one_of(truncated_records, st.binary(max_size=40), st.just(b"\0" * 64))
kinds = st.sampled_from(["file", "folder", "dangling", "fifo", "none", "no index", "index is folder"])
segments = st.dictionaries(starts, st.tuples(kinds, st.binary(max_size=20), indexes), max_size=4)


def create_entry(path: str, kind: str, data: bytes) -> None:
    if kind == "folder":
        os.mkdir(path)
    elif kind == "dangling":
        os.symlink("/nowhere/at/all", path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "file":
        with open(path, "wb") as file:
            file.write(data)


def create_segments(folder: str, plan: dict[int, tuple[str, bytes, bytes]]) -> dict[int, bytes]:
    """Create the files and return the readable segments."""
    for start, (kind, data, index) in plan.items():
        create_entry(build_raw_path(folder, start), "file" if "index" in kind else kind, data)
        create_entry(
            build_index_path(folder, start), {"no index": "none", "index is folder": "folder"}.get(kind, "file"), index
        )
    return {start: data for start, (kind, data, _) in plan.items() if kind == "file" or "index" in kind}


@build_settings(150)
@given(segments, st.lists(st.sampled_from(ODD_NAMES), unique=True, max_size=4), st.integers(0, 60), st.integers(1, 30))
@example({0: ("file", b"abc", pack_index_record(0, 3, (1 << 64) - 1))}, [], 0, 30)
def test_reading_any_folder_ends_and_returns_only_stored_bytes(plan, odd_names, offset, limit):
    with tempfile.TemporaryDirectory() as folder:
        readable = create_segments(folder, plan)
        for name in odd_names:
            create_entry(f"{folder}/{name}", "file", b"odd")
        reader, read_bytes = SegmentReader(folder), {}
        at = offset
        while pieces := list(reader.read_pieces(at, limit)):
            for start, data, when in pieces:
                assert start >= at
                assert data
                assert 0 <= when <= MAX_TIME_NS
                read_bytes |= dict(enumerate(data, start))
                at = start + len(data)
        assert 0 <= reader.find_read_time(offset) <= MAX_TIME_NS
        assert reader.read_end() is None or 0 <= reader.read_end()[1] <= MAX_TIME_NS
        assert reader.read_size() <= max((start + len(readable.get(start, b"")) for start in plan), default=0)
        reader.close()
        stored_bytes = [{start + number: byte for number, byte in enumerate(data)} for start, data in readable.items()]
        assert all(any(one.get(position) == byte for one in stored_bytes) for position, byte in read_bytes.items())


@build_settings(20)
@given(st.binary(max_size=20))
def test_a_file_in_place_of_the_folder_is_an_empty_log(data):
    with tempfile.TemporaryDirectory() as folder:
        create_entry(f"{folder}/7", "file", data)
        reader = SegmentReader(f"{folder}/7")
        assert (reader.read_size(), reader.read_end(), list(reader.read_pieces(0, 10)), reader.find_read_time(0)) == (
            0,
            None,
            [],
            0,
        )

"""Any folder at all in place of a log: reading ends, never fails, and gives no byte that does not stand in a file."""

import os
import tempfile

from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.recorder.segment import build_index_path, build_raw_path, pack_index_record
from termvisor.recorder.segment_log import SegmentReader
from tests.fuzz.example_count import build_settings

MOST = (1 << 63) - 1
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
torn = st.builds(lambda data, cut: data[: max(0, len(data) - cut)], records, st.integers(0, 16))
indexes = st.one_of(torn, st.binary(max_size=40), st.just(b"\0" * 64))
kinds = st.sampled_from(["file", "folder", "dangling", "fifo", "none", "no index", "index is folder"])
segments = st.dictionaries(starts, st.tuples(kinds, st.binary(max_size=20), indexes), max_size=4)


def put(path: str, kind: str, data: bytes) -> None:
    if kind == "folder":
        os.mkdir(path)
    elif kind == "dangling":
        os.symlink("/nowhere/at/all", path)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "file":
        with open(path, "wb") as file:
            file.write(data)


def lay(folder: str, plan: dict[int, tuple[str, bytes, bytes]]) -> dict[int, bytes]:
    """Makes the files; the segments that can be read."""
    for start, (kind, data, index) in plan.items():
        put(build_raw_path(folder, start), "file" if "index" in kind else kind, data)
        put(build_index_path(folder, start), {"no index": "none", "index is folder": "folder"}.get(kind, "file"), index)
    return {start: data for start, (kind, data, _) in plan.items() if kind == "file" or "index" in kind}


@build_settings(150)
@given(segments, st.lists(st.sampled_from(ODD_NAMES), unique=True, max_size=4), st.integers(0, 60), st.integers(1, 30))
@example({0: ("file", b"abc", pack_index_record(0, 3, (1 << 64) - 1))}, [], 0, 30)
def test_reading_ends_without_failing_and_invents_nothing(plan, odd, offset, limit):
    with tempfile.TemporaryDirectory() as folder:
        readable = lay(folder, plan)
        for name in odd:
            put(f"{folder}/{name}", "file", b"odd")
        reader, heard = SegmentReader(folder), {}
        at = offset
        while pieces := list(reader.read_pieces(at, limit)):
            for start, data, when in pieces:
                assert start >= at
                assert data
                assert 0 <= when <= MOST
                heard |= dict(enumerate(data, start))
                at = start + len(data)
        assert 0 <= reader.find_read_time(offset) <= MOST
        assert reader.read_end() is None or 0 <= reader.read_end()[1] <= MOST
        assert reader.read_size() <= max((start + len(readable.get(start, b"")) for start in plan), default=0)
        reader.close()
        stands = [{start + number: byte for number, byte in enumerate(data)} for start, data in readable.items()]
        assert all(any(one.get(place) == byte for one in stands) for place, byte in heard.items())


@build_settings(20)
@given(st.binary(max_size=20))
def test_a_file_in_place_of_the_folder_is_an_empty_log(data):
    with tempfile.TemporaryDirectory() as folder:
        put(f"{folder}/7", "file", data)
        reader = SegmentReader(f"{folder}/7")
        assert (reader.read_size(), reader.read_end(), list(reader.read_pieces(0, 10)), reader.find_read_time(0)) == (
            0,
            None,
            [],
            0,
        )

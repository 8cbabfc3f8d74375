"""Any folder at all in place of a log: reading ends, never fails, and gives no byte that does not stand in a file."""

import os
import tempfile

from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.recorder.segment import index_name, pack, raw_name
from termvisor.recorder.segment_log import SegmentReader
from tests.fuzz.effort import examples

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
    st.builds(pack, st.integers(0, 255), st.integers(0, (1 << 56) - 1) | st.integers(0, 60), whole_numbers), max_size=6
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
        put(raw_name(folder, start), "file" if "index" in kind else kind, data)
        put(index_name(folder, start), {"no index": "none", "index is folder": "folder"}.get(kind, "file"), index)
    return {start: data for start, (kind, data, _) in plan.items() if kind == "file" or "index" in kind}


@examples(150)
@given(segments, st.lists(st.sampled_from(ODD_NAMES), unique=True, max_size=4), st.integers(0, 60), st.integers(1, 30))
@example({0: ("file", b"abc", pack(0, 3, (1 << 64) - 1))}, [], 0, 30)
def test_reading_ends_without_failing_and_invents_nothing(plan, odd, offset, limit):
    with tempfile.TemporaryDirectory() as folder:
        readable = lay(folder, plan)
        for name in odd:
            put(f"{folder}/{name}", "file", b"odd")
        reader, heard = SegmentReader(folder), {}
        at = offset
        while pieces := list(reader.pieces(at, limit)):
            for start, data, when in pieces:
                assert start >= at
                assert data
                assert 0 <= when <= MOST
                heard |= dict(enumerate(data, start))
                at = start + len(data)
        assert 0 <= reader.time_of(offset) <= MOST
        assert reader.ended() is None or 0 <= reader.ended()[1] <= MOST
        assert reader.size() <= max((start + len(readable.get(start, b"")) for start in plan), default=0)
        reader.close()
        stands = [{start + number: byte for number, byte in enumerate(data)} for start, data in readable.items()]
        assert all(any(one.get(place) == byte for one in stands) for place, byte in heard.items())


@examples(20)
@given(st.binary(max_size=20))
def test_a_file_in_place_of_the_folder_is_an_empty_log(data):
    with tempfile.TemporaryDirectory() as folder:
        put(f"{folder}/7", "file", data)
        reader = SegmentReader(f"{folder}/7")
        assert (reader.size(), reader.ended(), list(reader.pieces(0, 10)), reader.time_of(0)) == (0, None, [], 0)

"""Server-sent events from chunks of any size."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.opencode.server_client.sse import ServerSentEventParser

STREAM = st.lists(
    st.sampled_from(
        [b"data: one\n", b"data:two\r\n", b"\n", b"\r\n", b"\r", b": aside\n", b"event: x\r", b"data\n", b"data: \xc3"]
    )
    | st.binary(max_size=12),
    max_size=20,
).map(b"".join)


def read(*pieces: bytes, limit: int = 40) -> tuple[list[str], int]:
    reader = ServerSentEventParser(limit)
    return [one for piece in pieces for one in reader.feed(piece)], reader.dropped_events


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'data: {"a":1}\n\n', ['{"a":1}']),
        (b"data:one\r\n\r\ndata:two\r\rdata: three\n\n", ["one", "two", "three"]),
        (b"id: 7\nevent: x\ndata: one\ndata: more\nretry: 5\n\n", ["one\nmore"]),
        (b": a comment\n\n\n\n", []),
        (b"data: not ended\n", []),
        (b"data:  a space is kept\n\n", [" a space is kept"]),
        (b"data: \xff\n\n", ["\ufffd"]),
    ],
)
def test_an_event_is_its_data(data, expected):
    assert read(data) == (expected, 0)


def test_what_is_too_long_is_left_out_and_what_follows_is_read():
    long = b"data: " + b"x" * 60 + b"\n\n"
    assert read(long, b"data: next\n\n") == (["next"], 1)
    assert read(*(bytes([one]) for one in long + b"data: next\n\n")) == (["next"], 1)
    assert read(b"data: many lines\n" * 9 + b"\n", b"data: next\n\n") == (["next"], 1)


@given(data=STREAM, cuts=st.lists(st.integers(0, 200), max_size=12))
def test_how_it_is_cut_changes_nothing(data, cuts):
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert read(*pieces) == read(data)


@given(data=st.binary(max_size=400))
def test_garbage_is_bounded_and_never_fails(data):
    found, dropped = read(data)
    assert all(len(one.encode("utf-8", "replace")) <= 3 * 40 for one in found)
    assert dropped >= 0

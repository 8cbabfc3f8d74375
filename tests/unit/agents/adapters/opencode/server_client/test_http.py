"""The HTTP client against well-behaved and hostile servers."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.opencode.server_client import http
from termvisor.agents.adapters.opencode.server_client.http import ServerSentEventParser, open_event_stream, send_request
from termvisor.errors import TimedOut, Unavailable
from termvisor.system.subprocesses import run_and_capture

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
TELLS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


@asynccontextmanager
async def says(*pieces: bytes, hangs: bool = False) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Somebody who answers every request with these bytes, then closes or says nothing more."""
    heard: list[bytes] = []
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if hangs:
            await done.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], heard
        done.set()


@pytest.mark.parametrize(
    "body",
    [
        b"Content-Length: 9\r\n\r\n[1,2,3,4]",
        b"Transfer-Encoding: chunked\r\n\r\n4\r\n[1,2\r\n5;x=y\r\n,3,4]\r\n0\r\n\r\n",
        b"\r\n[1,2,3,4]",
    ],
    ids=("length", "chunks", "until the end"),
)
async def test_an_answer_is_read_in_every_form(body):
    async with says(OK + body) as (port, heard):
        answer = await send_request(port, "/session")
    assert (answer.status, answer.json_value, answer.is_success) == (200, [1, 2, 3, 4], True)
    assert heard[0].startswith(b"GET /session HTTP/1.1\r\nHost: 127.0.0.1:")


async def test_what_has_a_body_is_posted():
    async with says(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as (port, heard):
        answer = await send_request(port, "/permission/per_1/reply", {"reply": "once"})
    assert (answer.status, answer.is_success, answer.json_value) == (404, False, None)
    assert heard[0].startswith(b"POST /permission/per_1/reply HTTP/1.1\r\n")
    assert b"Content-Length: 16\r\n" in heard[0]


@pytest.mark.parametrize(
    "words",
    [
        b"",
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"x" * 40_000,
        OK + b"Content-Length: -5\r\n\r\n",
        OK + b"Content-Length: 5\r\n\r\nab",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabcd",
        OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"1" * 40_000,
    ],
)
async def test_a_protocol_violation_is_unavailable(words):
    async with says(words) as (port, _):
        with pytest.raises(Unavailable):
            await send_request(port, "/session")


async def test_an_endless_answer_and_one_that_never_comes_end(monkeypatch):
    monkeypatch.setattr(http, "MAX_BODY_BYTES", 1000)
    async with says(OK + b"Content-Length: 999999999999\r\n\r\n" + b"x" * 5000, hangs=True) as (port, _):
        with pytest.raises(Unavailable, match="more than 1,000 bytes"):
            await send_request(port, "/session")
    async with says(OK, hangs=True) as (port, _):
        with pytest.raises(TimedOut):
            await send_request(port, "/session", timeout_s=0.05)


async def test_a_missing_server_is_reported():
    async with says() as (port, _):
        pass
    with pytest.raises(Unavailable):
        await send_request(port, "/session")


async def told(port: int, silent_for: float = 5.0) -> tuple[list[str], str]:
    """What was said until the end, and how it ended."""
    found: list[str] = []
    try:
        async with open_event_stream(port, "/event", silent_for) as several:
            async for some, _ in several:
                found += some
    except Unavailable as error:
        return found, error.message
    raise AssertionError("it has no end")


async def test_events_are_yielded_until_the_stream_ends():
    chunks = b"Transfer-Encoding: chunked\r\n\r\nb\r\ndata: one\n\n\r\n", b"5\r\ndata:\r\n6\r\n two\n\n\r\n"
    async with says(TELLS + chunks[0], chunks[1], b"0\r\n\r\n") as (port, _):
        assert await told(port) == (["one", "two"], "the server closed the connection")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n", "password"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n", "sends no event stream (status 302)"),
        (OK + b"\r\n", "sends no event stream"),
        (b"nonsense\r\n\r\n", "does not speak HTTP"),
    ],
)
async def test_who_tells_no_events_is_not_listened_to(words, why):
    async with says(words) as (port, _):
        found, ended = await told(port)
    assert (found, why in ended) == ([], True)


async def test_a_long_silence_is_an_end():
    async with says(TELLS + b"\r\ndata: one\n\n", hangs=True) as (port, _):
        assert await told(port, 0.1) == (["one"], "the server sent nothing for 0.1 s")


def test_nothing_heavy_is_loaded_where_tls_is_shut_out_as_the_daemon_does():
    heavy = "{'_ssl', '_hashlib', 'http.client', 'email', 'urllib.request'}"
    loaded = f"import termvisor.agents.adapters.opencode.server_client; print(sorted({heavy} & set(sys.modules)))"
    assert run_and_capture([sys.executable, "-c", f"import sys; sys.modules['ssl'] = None; {loaded}"])[1] == b"[]\n"


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

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
EVENT_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


@asynccontextmanager
async def run_server(*pieces: bytes, hangs: bool = False) -> AsyncIterator[tuple[int, list[bytes]]]:
    """Answer every request with these bytes, then close the connection or keep it open."""
    requests: list[bytes] = []
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        if hangs:
            await done.wait()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1], requests
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
async def test_a_response_body_is_read_by_length_by_chunks_or_until_the_end(body):
    async with run_server(OK + body) as (port, requests):
        answer = await send_request(port, "/session")
    assert (answer.status, answer.json_value, answer.is_success) == (200, [1, 2, 3, 4], True)
    assert requests[0].startswith(b"GET /session HTTP/1.1\r\nHost: 127.0.0.1:")


async def test_a_request_with_a_body_is_posted():
    async with run_server(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as (port, requests):
        answer = await send_request(port, "/permission/per_1/reply", {"reply": "once"})
    assert (answer.status, answer.is_success, answer.json_value) == (404, False, None)
    assert requests[0].startswith(b"POST /permission/per_1/reply HTTP/1.1\r\n")
    assert b"Content-Length: 16\r\n" in requests[0]


@pytest.mark.parametrize(
    "response",
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
async def test_a_protocol_violation_is_unavailable(response):
    async with run_server(response) as (port, _):
        with pytest.raises(Unavailable):
            await send_request(port, "/session")


async def test_a_too_large_response_is_refused_and_a_missing_one_times_out(monkeypatch):
    monkeypatch.setattr(http, "MAX_BODY_BYTES", 1000)
    async with run_server(OK + b"Content-Length: 999999999999\r\n\r\n" + b"x" * 5000, hangs=True) as (port, _):
        with pytest.raises(Unavailable, match="more than 1,000 bytes"):
            await send_request(port, "/session")
    async with run_server(OK, hangs=True) as (port, _):
        with pytest.raises(TimedOut):
            await send_request(port, "/session", timeout_s=0.05)


async def test_a_missing_server_is_reported():
    async with run_server() as (port, _):
        pass
    with pytest.raises(Unavailable):
        await send_request(port, "/session")


async def collect_events(port: int, silent_for: float = 5.0) -> tuple[list[str], str]:
    """Return the events until the end of the stream and the error that ended it."""
    found: list[str] = []
    try:
        async with open_event_stream(port, "/event", silent_for) as several:
            async for some, _ in several:
                found += some
    except Unavailable as error:
        return found, error.message
    raise AssertionError("the stream does not end")


async def test_events_are_yielded_until_the_stream_ends():
    chunks = b"Transfer-Encoding: chunked\r\n\r\nb\r\ndata: one\n\n\r\n", b"5\r\ndata:\r\n6\r\n two\n\n\r\n"
    async with run_server(EVENT_STREAM + chunks[0], chunks[1], b"0\r\n\r\n") as (port, _):
        assert await collect_events(port) == (["one", "two"], "the server closed the connection")


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n", "password"),
        (b"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\n\r\n", "sends no event stream (status 302)"),
        (OK + b"\r\n", "sends no event stream"),
        (b"nonsense\r\n\r\n", "does not speak HTTP"),
    ],
)
async def test_a_server_without_an_event_stream_is_unavailable(response, reason):
    async with run_server(response) as (port, _):
        found, ended = await collect_events(port)
    assert (found, reason in ended) == ([], True)


async def test_a_silent_stream_ends_after_the_timeout():
    async with run_server(EVENT_STREAM + b"\r\ndata: one\n\n", hangs=True) as (port, _):
        assert await collect_events(port, 0.1) == (["one"], "the server sent nothing for 0.1 s")


def test_importing_the_client_loads_no_tls_or_http_modules():
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


def parse_events(*pieces: bytes, limit: int = 40) -> tuple[list[str], int]:
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
def test_an_event_is_parsed_to_its_data(data, expected):
    assert parse_events(data) == (expected, 0)


def test_a_too_long_event_is_dropped_and_the_next_is_read():
    long = b"data: " + b"x" * 60 + b"\n\n"
    assert parse_events(long, b"data: next\n\n") == (["next"], 1)
    assert parse_events(*(bytes([one]) for one in long + b"data: next\n\n")) == (["next"], 1)
    assert parse_events(b"data: many lines\n" * 9 + b"\n", b"data: next\n\n") == (["next"], 1)


@given(data=STREAM, cuts=st.lists(st.integers(0, 200), max_size=12))
def test_chunk_borders_do_not_change_the_events(data, cuts):
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[start:end] for start, end in pairwise(places)]
    assert parse_events(*pieces) == parse_events(data)


@given(data=st.binary(max_size=400))
def test_garbage_is_bounded_and_never_fails(data):
    found, dropped = parse_events(data)
    assert all(len(one.encode("utf-8", "replace")) <= 3 * 40 for one in found)
    assert dropped >= 0

"""As much of HTTP as it takes to speak with a server of this machine, in the clear and at 127.0.0.1 only.

Whoever is at the other end is not trusted: everything has its longest time and its greatest size, nothing is followed
elsewhere, and what is against the rules ends the connection.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.json_access import JSON_ERRORS
from termvisor.agents.adapters.opencode.server_client.sse import ServerSentEventParser
from termvisor.errors import TimedOut, Unavailable

LOOPBACK_ADDRESS = "127.0.0.1"
ANSWER_TIMEOUT_S = 10.0
MAX_BODY_BYTES = 8 << 20
_MAX_HEADER_BYTES = 1 << 14
_READ_CHUNK_BYTES = 1 << 16
_EVENT_STREAM_TYPE = b"text/event-stream"


class HttpResponse(Struct, frozen=True):
    status: int
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def json_value(self) -> object:
        """Out of JSON; None for what is none."""
        try:
            return msgspec.json.decode(self.body)
        except JSON_ERRORS:
            return None


class _ResponseHead(Struct, frozen=True):
    status: int
    fields: dict[bytes, bytes]


async def send_request(
    port: int, path: str, body: object = None, *, timeout_s: float = ANSWER_TIMEOUT_S
) -> HttpResponse:
    """A GET, or a POST where there is a body. Raises Unavailable, or TimedOut: then it may have been done."""
    data = b"" if body is None else msgspec.json.encode(body)
    try:
        async with (
            asyncio.timeout(timeout_s),
            _open_request(port, path, data, "GET" if body is None else "POST") as reader,
        ):
            head = await _read_head(reader)
            pieces = bytearray()
            async for piece in _read_body(reader, head):
                pieces += piece
                if len(pieces) > MAX_BODY_BYTES:
                    raise Unavailable(f"an answer of more than {MAX_BODY_BYTES:,} bytes")
            return HttpResponse(head.status, bytes(pieces))
    except TimeoutError as error:
        raise TimedOut(f"no answer to {path} within {timeout_s:g} s") from error
    except (OSError, EOFError) as error:
        raise Unavailable(f"the connection was closed: {error or type(error).__name__}") from error


@asynccontextmanager
async def open_event_stream(
    port: int, path: str, silence_timeout_s: float
) -> AsyncIterator[AsyncIterator[tuple[list[str], int]]]:
    """What is said there: each time all that came, and how much was too long so far. Raises Unavailable at its end,
    which is also a silence of so many seconds.
    """
    try:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(silence_timeout_s):
                reader = await stack.enter_async_context(_open_request(port, path, b"", "GET"))
                head = await _read_head(reader)
            if head.status == 401:
                raise Unavailable("its server wants a password, which we do not have")
            if head.status != 200 or not head.fields.get(b"content-type", b"").startswith(_EVENT_STREAM_TYPE):
                raise Unavailable(f"who listens there tells no events (status {head.status})")
            yield _read_events(_read_body(reader, head), silence_timeout_s)
    except TimeoutError as error:
        raise Unavailable(f"nothing was heard for {silence_timeout_s:g} s") from error
    except (OSError, EOFError) as error:
        raise Unavailable("the connection was closed") from error


async def _read_events(chunks: AsyncIterator[bytes], silence_timeout_s: float) -> AsyncIterator[tuple[list[str], int]]:
    reader = ServerSentEventParser()
    while True:
        async with asyncio.timeout(silence_timeout_s):
            piece = await anext(chunks, None)
        if piece is None:
            raise Unavailable("the other end closed the connection")
        yield reader.feed(piece), reader.dropped_events


@asynccontextmanager
async def _open_request(port: int, path: str, data: bytes, method: str) -> AsyncIterator[asyncio.StreamReader]:
    reader, writer = await asyncio.open_connection(LOOPBACK_ADDRESS, port, limit=_MAX_HEADER_BYTES)
    try:
        kind = b"Content-Type: application/json\r\n" if data else b""
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: {LOOPBACK_ADDRESS}:{port}\r\nConnection: close\r\nAccept: */*\r\n".encode(
                "ascii"
            )
            + kind
            + b"Content-Length: %d\r\n\r\n" % len(data)
            + data
        )
        await writer.drain()
        yield reader
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def _read_head(reader: asyncio.StreamReader) -> _ResponseHead:
    try:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Unavailable("who listens there does not speak HTTP") from error
    words = first.split(b" ")
    if not words[0].startswith(b"HTTP/1.") or len(words) < 2 or not words[1].isdigit():
        raise Unavailable("who listens there does not speak HTTP")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    return _ResponseHead(int(words[1][:3]), fields)


async def _read_body(reader: asyncio.StreamReader, head: _ResponseHead) -> AsyncIterator[bytes]:
    """The body, in pieces of bounded size."""
    if head.fields.get(b"transfer-encoding", b"").lower() == b"chunked":
        while size := await _read_chunk_size(reader):
            async for piece in _read_exactly(reader, size):
                yield piece
            if await reader.readexactly(2) != b"\r\n":
                raise Unavailable("the other end broke the rules of HTTP")
    elif (length := head.fields.get(b"content-length")) is not None:
        async for piece in _read_exactly(reader, _parse_int(length, 10)):
            yield piece
    else:
        while piece := await reader.read(_READ_CHUNK_BYTES):
            yield piece


async def _read_exactly(reader: asyncio.StreamReader, size: int) -> AsyncIterator[bytes]:
    while size:
        piece = await reader.read(min(size, _READ_CHUNK_BYTES))
        if not piece:
            raise Unavailable("the other end closed the connection")
        size -= len(piece)
        yield piece


async def _read_chunk_size(reader: asyncio.StreamReader) -> int:
    try:
        line = await reader.readuntil(b"\r\n")
    except asyncio.LimitOverrunError as error:
        raise Unavailable("the other end broke the rules of HTTP") from error
    return _parse_int(line.partition(b";")[0].strip(), 16)


def _parse_int(digits: bytes, base: int) -> int:
    try:
        if 0 < len(digits) <= 16 and digits.isalnum():
            return int(digits, base)
    except ValueError:
        pass
    raise Unavailable("the other end broke the rules of HTTP")

"""A minimal HTTP/1.1 client for servers at 127.0.0.1, with server-sent events.

The server is not trusted: all times and sizes are limited, redirects are not followed, and a protocol violation ends
the connection.

Invariants of the event parser: the result does not depend on how the bytes are split into chunks. An event above the
size limit is dropped and counted; parsing continues with the next event.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from msgspec import Struct

from termvisor.agents.adapters.json_access import JSON_ERRORS
from termvisor.errors import TimedOut, Unavailable

LOOPBACK_ADDRESS = "127.0.0.1"
ANSWER_TIMEOUT_S = 10.0
MAX_BODY_BYTES = 8 << 20
_MAX_HEADER_BYTES = 1 << 14
_READ_CHUNK_BYTES = 1 << 16
# Size limit of an event and of a line.
MAX_EVENT_BYTES = 4 << 20
_LINE_ENDS = re.compile(rb"\r\n|\n|\r")
# Replaces a line that is too long; it is a comment, which is ignored.
_OMITTED_LINE = b":"
_EVENT_STREAM_TYPE = b"text/event-stream"
_PROTOCOL_ERROR = "the server violated the HTTP protocol"


class HttpResponse(Struct, frozen=True):
    """Status and body of a response."""

    status: int
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def json_value(self) -> object:
        """The parsed body; None if it is not JSON."""
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
    """Send a GET request, or a POST request with a JSON body.

    Raises Unavailable if the connection fails, and TimedOut if the outcome is unknown.
    """
    data = b"" if body is None else msgspec.json.encode(body)
    try:
        async with (
            asyncio.timeout(timeout_s),
            _open_request(port, path, data, "GET" if body is None else "POST") as reader,
        ):
            head = await _read_head(reader)
            response = bytearray()
            async for chunk in _read_body(reader, head):
                response += chunk
                if len(response) > MAX_BODY_BYTES:
                    raise Unavailable(f"the response to {path} has more than {MAX_BODY_BYTES:,} bytes")
            return HttpResponse(head.status, bytes(response))
    except TimeoutError as error:
        raise TimedOut(f"{path} timed out after {timeout_s:g} s") from error
    except (OSError, EOFError) as error:
        # asyncio reports an incomplete read as an EOFError.
        raise Unavailable(f"the connection was closed: {error or type(error).__name__}") from error


@asynccontextmanager
async def open_event_stream(
    port: int, path: str, silence_timeout_s: float
) -> AsyncIterator[AsyncIterator[tuple[list[str], int]]]:
    """Open a stream of server-sent events.

    Yields an iterator over the events of each chunk and the number dropped so far. Raises Unavailable when the
    stream ends, or when nothing arrives for ``silence_timeout_s`` seconds.
    """
    try:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(silence_timeout_s):
                reader = await stack.enter_async_context(_open_request(port, path, b"", "GET"))
                head = await _read_head(reader)
            if head.status == 401:
                # The user has set OPENCODE_SERVER_PASSWORD.
                raise Unavailable("the server requires a password, which is not supported")
            if head.status != 200 or not head.fields.get(b"content-type", b"").startswith(_EVENT_STREAM_TYPE):
                raise Unavailable(f"the server sends no event stream (status {head.status})")
            yield _read_events(_read_body(reader, head), silence_timeout_s)
    except TimeoutError as error:
        raise Unavailable(f"the server sent nothing for {silence_timeout_s:g} s") from error
    except (OSError, EOFError) as error:
        raise Unavailable("the connection was closed") from error


async def _read_events(chunks: AsyncIterator[bytes], silence_timeout_s: float) -> AsyncIterator[tuple[list[str], int]]:
    parser = ServerSentEventParser()
    while True:
        async with asyncio.timeout(silence_timeout_s):
            chunk = await anext(chunks, None)
        if chunk is None:
            raise Unavailable("the server closed the connection")
        yield parser.feed(chunk), parser.dropped_events


@asynccontextmanager
async def _open_request(port: int, path: str, data: bytes, method: str) -> AsyncIterator[asyncio.StreamReader]:
    reader, writer = await asyncio.open_connection(LOOPBACK_ADDRESS, port, limit=_MAX_HEADER_BYTES)
    try:
        content_type = "Content-Type: application/json\r\n" if data else ""
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {LOOPBACK_ADDRESS}:{port}\r\nConnection: close\r\nAccept: */*\r\n"
            f"{content_type}Content-Length: {len(data)}\r\n\r\n"
        )
        writer.write(head.encode("ascii") + data)
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
        raise Unavailable("the server does not speak HTTP") from error
    status_line = first.split(b" ")
    if not status_line[0].startswith(b"HTTP/1.") or len(status_line) < 2 or not status_line[1].isdigit():
        raise Unavailable("the server does not speak HTTP")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    return _ResponseHead(int(status_line[1][:3]), fields)


async def _read_body(reader: asyncio.StreamReader, head: _ResponseHead) -> AsyncIterator[bytes]:
    """Yield the body in chunks of bounded size."""
    if head.fields.get(b"transfer-encoding", b"").lower() == b"chunked":
        while size := await _read_chunk_size(reader):
            async for chunk in _read_exactly(reader, size):
                yield chunk
            if await reader.readexactly(2) != b"\r\n":
                raise Unavailable(_PROTOCOL_ERROR)
    elif (length := head.fields.get(b"content-length")) is not None:
        async for chunk in _read_exactly(reader, _parse_int(length, 10)):
            yield chunk
    else:
        while chunk := await reader.read(_READ_CHUNK_BYTES):
            yield chunk


async def _read_exactly(reader: asyncio.StreamReader, size: int) -> AsyncIterator[bytes]:
    while size:
        chunk = await reader.read(min(size, _READ_CHUNK_BYTES))
        if not chunk:
            raise Unavailable("the server closed the connection")
        size -= len(chunk)
        yield chunk


async def _read_chunk_size(reader: asyncio.StreamReader) -> int:
    try:
        line = await reader.readuntil(b"\r\n")
    except asyncio.LimitOverrunError as error:
        raise Unavailable(_PROTOCOL_ERROR) from error
    return _parse_int(line.partition(b";")[0].strip(), 16)


def _parse_int(digits: bytes, base: int) -> int:
    try:
        if 0 < len(digits) <= 16 and digits.isalnum():  # int() would accept signs, spaces and underscores
            return int(digits, base)
    except ValueError:
        pass
    raise Unavailable(_PROTOCOL_ERROR)


class ServerSentEventParser:
    """Parse one stream; ``dropped_events`` counts events above the limit."""

    def __init__(self, limit: int = MAX_EVENT_BYTES):
        self._max_event_bytes = limit
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._is_after_return = self._is_too_long = False
        self.dropped_events = 0

    def feed(self, chunk: bytes) -> list[str]:
        """Return the data of every event that ends in this chunk."""
        # A line end `\r\n` may be split between two chunks; its `\n` must not end a second, empty line.
        if self._is_after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._is_after_return = False
        if not chunk:
            return []
        self._is_after_return = chunk.endswith(b"\r")
        *lines, rest = _LINE_ENDS.split(chunk)
        events: list[str] = []
        for line in lines:
            whole_line, self._line = bytes(self._line) + line, bytearray()
            if (data := self._parse_line(whole_line)) is not None:
                events.append(data)
        self._line += rest
        if len(self._line) > self._max_event_bytes:
            self._is_too_long, self._line = True, bytearray(_OMITTED_LINE)
        return events

    def _parse_line(self, line: bytes) -> str | None:
        if not line:
            return self._finish_event()
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._size += len(value) + 1
            self._data.append(value)
        if len(line) > self._max_event_bytes or self._size > self._max_event_bytes:
            self._is_too_long = True
            self._data.clear()
        return None

    def _finish_event(self) -> str | None:
        data, is_too_long = self._data, self._is_too_long
        self._data, self._size, self._is_too_long = [], 0, False
        self.dropped_events += is_too_long
        return b"\n".join(data).decode("utf-8", "replace") if data and not is_too_long else None

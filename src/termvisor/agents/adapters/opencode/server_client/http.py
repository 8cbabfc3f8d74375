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

from termvisor.agents.adapters.json_access import BROKEN
from termvisor.agents.adapters.opencode.server_client.sse import Events
from termvisor.errors import TimedOut, Unavailable

HERE = "127.0.0.1"
ANSWER_WITHIN = 10.0
BODY_LIMIT = 8 << 20
_HEAD_LIMIT = 1 << 14
_PIECE = 1 << 16
_EVENTS = b"text/event-stream"


class Answer(Struct, frozen=True):
    status: int
    body: bytes = b""

    @property
    def is_taken(self) -> bool:
        return 200 <= self.status < 300

    @property
    def value(self) -> object:
        """Out of JSON; None for what is none."""
        try:
            return msgspec.json.decode(self.body)
        except BROKEN:
            return None


class _Head(Struct, frozen=True):
    status: int
    fields: dict[bytes, bytes]


async def call(port: int, path: str, body: object = None, *, within: float = ANSWER_WITHIN) -> Answer:
    """A GET, or a POST where there is a body. Raises Unavailable, or TimedOut: then it may have been done."""
    data = b"" if body is None else msgspec.json.encode(body)
    try:
        async with asyncio.timeout(within), _asked(port, path, data, "GET" if body is None else "POST") as reader:
            head = await _head(reader)
            pieces = bytearray()
            async for piece in _pieces(reader, head):
                pieces += piece
                if len(pieces) > BODY_LIMIT:
                    raise Unavailable(f"an answer of more than {BODY_LIMIT:,} bytes")
            return Answer(head.status, bytes(pieces))
    except TimeoutError as error:
        raise TimedOut(f"no answer to {path} within {within:g} s") from error
    except (OSError, EOFError) as error:
        raise Unavailable(f"the connection was closed: {error or type(error).__name__}") from error


@asynccontextmanager
async def events(port: int, path: str, silent_for: float) -> AsyncIterator[AsyncIterator[tuple[list[str], int]]]:
    """What is said there: each time all that came, and how much was too long so far. Raises Unavailable at its end,
    which is also a silence of so many seconds.
    """
    try:
        async with contextlib.AsyncExitStack() as stack:
            async with asyncio.timeout(silent_for):
                reader = await stack.enter_async_context(_asked(port, path, b"", "GET"))
                head = await _head(reader)
            if head.status == 401:
                raise Unavailable("its server wants a password, which we do not have")
            if head.status != 200 or not head.fields.get(b"content-type", b"").startswith(_EVENTS):
                raise Unavailable(f"who listens there tells no events (status {head.status})")
            yield _told(_pieces(reader, head), silent_for)
    except TimeoutError as error:
        raise Unavailable(f"nothing was heard for {silent_for:g} s") from error
    except (OSError, EOFError) as error:
        raise Unavailable("the connection was closed") from error


async def _told(pieces: AsyncIterator[bytes], silent_for: float) -> AsyncIterator[tuple[list[str], int]]:
    reader = Events()
    while True:
        async with asyncio.timeout(silent_for):
            piece = await anext(pieces, None)
        if piece is None:
            raise Unavailable("the other end closed the connection")
        yield reader.feed(piece), reader.dropped


@asynccontextmanager
async def _asked(port: int, path: str, data: bytes, method: str) -> AsyncIterator[asyncio.StreamReader]:
    reader, writer = await asyncio.open_connection(HERE, port, limit=_HEAD_LIMIT)
    try:
        kind = b"Content-Type: application/json\r\n" if data else b""
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: {HERE}:{port}\r\nConnection: close\r\nAccept: */*\r\n".encode("ascii")
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


async def _head(reader: asyncio.StreamReader) -> _Head:
    try:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Unavailable("who listens there does not speak HTTP") from error
    words = first.split(b" ")
    if not words[0].startswith(b"HTTP/1.") or len(words) < 2 or not words[1].isdigit():
        raise Unavailable("who listens there does not speak HTTP")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    return _Head(int(words[1][:3]), fields)


async def _pieces(reader: asyncio.StreamReader, head: _Head) -> AsyncIterator[bytes]:
    """The body, in pieces of bounded size."""
    if head.fields.get(b"transfer-encoding", b"").lower() == b"chunked":
        while size := await _chunk_size(reader):
            async for piece in _exactly(reader, size):
                yield piece
            if await reader.readexactly(2) != b"\r\n":
                raise Unavailable("the other end broke the rules of HTTP")
    elif (length := head.fields.get(b"content-length")) is not None:
        async for piece in _exactly(reader, _number(length, 10)):
            yield piece
    else:
        while piece := await reader.read(_PIECE):
            yield piece


async def _exactly(reader: asyncio.StreamReader, size: int) -> AsyncIterator[bytes]:
    while size:
        piece = await reader.read(min(size, _PIECE))
        if not piece:
            raise Unavailable("the other end closed the connection")
        size -= len(piece)
        yield piece


async def _chunk_size(reader: asyncio.StreamReader) -> int:
    try:
        line = await reader.readuntil(b"\r\n")
    except asyncio.LimitOverrunError as error:
        raise Unavailable("the other end broke the rules of HTTP") from error
    return _number(line.partition(b";")[0].strip(), 16)


def _number(digits: bytes, base: int) -> int:
    try:
        if 0 < len(digits) <= 16 and digits.isalnum():
            return int(digits, base)
    except ValueError:
        pass
    raise Unavailable("the other end broke the rules of HTTP")

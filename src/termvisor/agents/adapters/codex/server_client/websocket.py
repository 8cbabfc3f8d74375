"""A WebSocket client on a Unix socket: as much of RFC 6455 as it takes to speak in texts with a program next door.

Whoever is at the other end is not trusted: what is longer than the limit, or against the rules, ends the connection.
"""

import asyncio
import base64
import contextlib
import os
import struct
from _sha1 import sha1  # type: ignore[import-not-found]  # typed nowhere; hashlib would load OpenSSL, four megabytes

from msgspec import Struct

from termvisor.errors import Unavailable

LIMIT = 16 << 20
"""Bytes of one message."""
_HEAD_LIMIT = 1 << 14
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_FINAL, _MASKED = 0x80, 0x80
_GOING_AWAY, _AGAINST_THE_RULES, _NOT_TEXT, _BROKEN_TEXT, _TOO_LONG = 1001, 1002, 1003, 1007, 1009


class Frame(Struct, frozen=True):
    code: int
    data: bytes
    is_final: bool = True


class _Violation(Exception):
    """Of the rules, by the other end."""

    def __init__(self, status: int, why: str):
        super().__init__(why)
        self.status = status


class WebSocket:
    """One connection. Raises Unavailable when it ends, whoever ended it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int = LIMIT):
        self._reader, self._writer, self._limit = reader, writer, limit
        self._is_closing = False

    async def send(self, text: str) -> None:
        await self._write(Frame(_TEXT, text.encode()))

    async def receive(self) -> str:
        """The next text."""
        try:
            return await self._message()
        except _Violation as wrong:
            await self._say_close(wrong.status)
            raise Unavailable(f"the other end broke the rules of WebSocket: {wrong}") from wrong
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Unavailable("the connection was closed") from error

    async def close(self) -> None:
        with contextlib.suppress(Unavailable):
            await self._say_close(_GOING_AWAY)
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _message(self) -> str:
        pieces: list[bytes] = []
        while True:
            frame = await read_frame(self._reader, self._limit - sum(map(len, pieces)))
            if frame.code in (_CLOSE, _PING, _PONG):
                await self._control(frame)
                continue
            if frame.code == _BINARY:
                raise _Violation(_NOT_TEXT, "bytes instead of text")
            if (frame.code == _CONTINUED) != bool(pieces):
                raise _Violation(_AGAINST_THE_RULES, "pieces of messages are mixed up")
            pieces.append(frame.data)
            if frame.is_final:
                return _text(b"".join(pieces))

    async def _control(self, frame: Frame) -> None:
        if frame.code == _PING:
            await self._write(Frame(_PONG, frame.data))
        elif frame.code == _CLOSE:
            await self._say_close(_AGAINST_THE_RULES if len(frame.data) == 1 else None, frame.data[:2])
            raise Unavailable("the other end closed the connection")

    async def _say_close(self, status: int | None, echo: bytes = b"") -> None:
        if not self._is_closing:
            self._is_closing = True
            await self._write(Frame(_CLOSE, echo if status is None else struct.pack(">H", status)))

    async def _write(self, frame: Frame) -> None:
        try:
            self._writer.write(encoded(frame, os.urandom(4)))
            await self._writer.drain()
        except OSError as error:
            raise Unavailable("the connection was closed") from error


async def connect(path: str, limit: int = LIMIT) -> WebSocket:
    """Raises Unavailable: nobody listens, it is not ours, or who listens speaks something else."""
    try:
        if os.stat(path).st_uid != os.getuid():
            raise Unavailable(f"{path} belongs to somebody else")
        reader, writer = await asyncio.open_unix_connection(path, limit=_HEAD_LIMIT)
    except OSError as error:
        raise Unavailable(f"nobody listens at {path}: {error.strerror or error}") from error
    try:
        await _shake_hands(reader, writer)
    except BaseException:
        writer.close()
        raise
    return WebSocket(reader, writer, limit)


async def _shake_hands(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    key = base64.b64encode(os.urandom(16))
    writer.write(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: " + key + b"\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    try:
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Unavailable("who listens there does not speak WebSocket") from error
    if not _is_accepted(head, key):
        raise Unavailable("who listens there does not speak WebSocket")


def _is_accepted(head: bytes, key: bytes) -> bool:
    first, *lines = head.split(b"\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    return (
        first.split(b" ")[1:2] == [b"101"]
        and fields.get(b"upgrade", b"").lower() == b"websocket"
        and fields.get(b"sec-websocket-accept") == accept_key(key)
        and b"sec-websocket-extensions" not in fields
    )


def accept_key(key: bytes) -> bytes:
    """What a server must answer to this key."""
    return base64.b64encode(sha1(key + _GUID).digest())


def encoded(frame: Frame, mask: bytes) -> bytes:
    """As a client must send it: with a mask."""
    size = len(frame.data)
    first = frame.code | (_FINAL if frame.is_final else 0)
    if size < 126:
        head = struct.pack("BB", first, _MASKED | size)
    elif size < 1 << 16:
        head = struct.pack(">BBH", first, _MASKED | 126, size)
    else:
        head = struct.pack(">BBQ", first, _MASKED | 127, size)
    return head + mask + masked(frame.data, mask)


def masked(data: bytes, mask: bytes) -> bytes:
    """Once more and it is the same again."""
    key = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data) ^ int.from_bytes(key)).to_bytes(len(data))


async def read_frame(reader: asyncio.StreamReader, limit: int) -> Frame:
    """The next frame of a server."""
    first, second = await reader.readexactly(2)
    code, size = first & 0x0F, second & 0x7F
    is_final = bool(first & _FINAL)
    if first & 0x70 or second & _MASKED or code not in (_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG):
        raise _Violation(_AGAINST_THE_RULES, "a frame that no server may send")
    if code >= _CLOSE and (size > 125 or not is_final):
        raise _Violation(_AGAINST_THE_RULES, "a control frame that is too long or in pieces")
    if size >= 126:
        size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8))
    if size > limit and code < _CLOSE:
        raise _Violation(_TOO_LONG, f"a message of more than {limit:,} bytes")
    return Frame(code, await reader.readexactly(size), is_final)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _Violation(_BROKEN_TEXT, "a text that is no UTF-8") from error

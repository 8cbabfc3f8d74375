"""A minimal WebSocket client (RFC 6455) for text messages over a Unix socket, and JSON-RPC on top of it.

The server is not trusted: a message above the size limit or a protocol violation ends the connection. JSON-RPC is in
Codex's dialect: no field ``jsonrpc``, and requests in both directions.
"""

import asyncio
import base64
import contextlib
import os
import struct
from _sha1 import sha1  # type: ignore[import-not-found]  # has no type stubs; hashlib would load OpenSSL: four megabytes
from collections.abc import Callable, Mapping
from itertools import count

import msgspec
from msgspec import Struct

from termvisor.errors import BadRequest, TimedOut, Unavailable

RpcMessage = dict[str, object]
ANSWER_TIMEOUT_S = 10.0
MAX_MESSAGE_BYTES = 16 << 20
_MAX_HEADER_BYTES = 1 << 14
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
_FINAL_BIT, _MASK_BIT = 0x80, 0x80
_GOING_AWAY, _PROTOCOL_ERROR, _UNSUPPORTED_DATA, _INVALID_TEXT, _MESSAGE_TOO_BIG = 1001, 1002, 1003, 1007, 1009


class WebSocketFrame(Struct, frozen=True):
    opcode: int
    data: bytes
    is_final: bool = True


class _ProtocolViolation(Exception):
    """The server violated the protocol; ``status`` is the code to close with."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status = status


class WebSocket:
    """One connection. Methods raise Unavailable when it has ended."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, limit: int = MAX_MESSAGE_BYTES):
        self._reader, self._writer, self._max_message_bytes = reader, writer, limit
        self._is_closing = False

    async def send(self, text: str) -> None:
        await self._send_frame(WebSocketFrame(_TEXT, text.encode()))

    async def receive(self) -> str:
        """Return the next text message."""
        try:
            return await self._receive_message()
        except _ProtocolViolation as error:
            # RFC 6455 requires a close frame with the reason before the connection fails.
            await self._send_close(error.status)
            raise Unavailable(f"the server violated the WebSocket protocol: {error}") from error
        except (asyncio.IncompleteReadError, OSError) as error:
            raise Unavailable("the connection was closed") from error

    async def close(self) -> None:
        with contextlib.suppress(Unavailable):
            await self._send_close(_GOING_AWAY)
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def _receive_message(self) -> str:
        pieces: list[bytes] = []
        while True:
            frame = await read_frame(self._reader, self._max_message_bytes - sum(map(len, pieces)))
            if frame.opcode in (_CLOSE, _PING, _PONG):
                await self._process_control_frame(frame)
                continue
            if frame.opcode == _BINARY:
                raise _ProtocolViolation(_UNSUPPORTED_DATA, "binary message")
            if (frame.opcode == _CONTINUATION) != bool(pieces):
                raise _ProtocolViolation(_PROTOCOL_ERROR, "fragments of messages are mixed")
            pieces.append(frame.data)
            if frame.is_final:
                return _decode_text(b"".join(pieces))

    async def _process_control_frame(self, frame: WebSocketFrame) -> None:
        if frame.opcode == _PING:
            await self._send_frame(WebSocketFrame(_PONG, frame.data))
        elif frame.opcode == _CLOSE:
            await self._send_close(_PROTOCOL_ERROR if len(frame.data) == 1 else None, frame.data[:2])
            raise Unavailable("the server closed the connection")

    async def _send_close(self, status: int | None, echo: bytes = b"") -> None:
        if not self._is_closing:
            self._is_closing = True
            await self._send_frame(WebSocketFrame(_CLOSE, echo if status is None else struct.pack(">H", status)))

    async def _send_frame(self, frame: WebSocketFrame) -> None:
        try:
            self._writer.write(encode_frame(frame, os.urandom(4)))
            await self._writer.drain()
        except OSError as error:
            raise Unavailable("the connection was closed") from error


async def connect_websocket(path: str, limit: int = MAX_MESSAGE_BYTES) -> WebSocket:
    """Connect to a socket of this user. Raises Unavailable if there is no WebSocket server or it is another user's."""
    try:
        if os.stat(path).st_uid != os.getuid():
            raise Unavailable(f"{path} belongs to another user")
        reader, writer = await asyncio.open_unix_connection(path, limit=_MAX_HEADER_BYTES)
    except OSError as error:
        raise Unavailable(f"cannot connect to {path}: {error.strerror or error}") from error
    try:
        await _perform_handshake(reader, writer)
    # Also on cancellation, because nothing else closes the socket before the handshake is done.
    except BaseException:
        writer.close()
        raise
    return WebSocket(reader, writer, limit)


async def _perform_handshake(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    key = base64.b64encode(os.urandom(16))
    writer.write(
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: " + key + b"\r\nSec-WebSocket-Version: 13\r\n\r\n"
    )
    try:
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise Unavailable("the server does not speak WebSocket") from error
    if not _is_accepted(head, key):
        raise Unavailable("the server does not speak WebSocket")


def _is_accepted(head: bytes, key: bytes) -> bool:
    first, *lines = head.split(b"\r\n")
    fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(b":") for line in lines)}
    return (
        first.split(b" ")[1:2] == [b"101"]
        and fields.get(b"upgrade", b"").lower() == b"websocket"
        and fields.get(b"sec-websocket-accept") == compute_accept_key(key)
        # We offer no extensions, so we could not read the frames of a server that selects one.
        and b"sec-websocket-extensions" not in fields
    )


def compute_accept_key(key: bytes) -> bytes:
    """Return the Sec-WebSocket-Accept value for a key."""
    return base64.b64encode(sha1(key + _GUID).digest())


def encode_frame(frame: WebSocketFrame, mask: bytes) -> bytes:
    """Encode a masked frame: clients must mask every frame."""
    size = len(frame.data)
    first = frame.opcode | (_FINAL_BIT if frame.is_final else 0)
    if size < 126:
        head = struct.pack("BB", first, _MASK_BIT | size)
    elif size < 1 << 16:
        head = struct.pack(">BBH", first, _MASK_BIT | 126, size)
    else:
        head = struct.pack(">BBQ", first, _MASK_BIT | 127, size)
    return head + mask + apply_mask(frame.data, mask)


def apply_mask(data: bytes, mask: bytes) -> bytes:
    """Mask or unmask data: the operation is its own inverse."""
    # One XOR of large integers, because a loop over the bytes would be slow in Python.
    key = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data) ^ int.from_bytes(key)).to_bytes(len(data))


async def read_frame(reader: asyncio.StreamReader, limit: int) -> WebSocketFrame:
    """Read the next frame from a server, with at most ``limit`` bytes of data."""
    first, second = await reader.readexactly(2)
    code, size = first & 0x0F, second & 0x7F
    is_final = bool(first & _FINAL_BIT)
    # Servers do not mask their frames, and the reserved bits belong to extensions that we do not offer.
    if first & 0x70 or second & _MASK_BIT or code not in (_CONTINUATION, _TEXT, _BINARY, _CLOSE, _PING, _PONG):
        raise _ProtocolViolation(_PROTOCOL_ERROR, "frame that a server must not send")
    if code >= _CLOSE and (size > 125 or not is_final):
        raise _ProtocolViolation(_PROTOCOL_ERROR, "control frame that is too long or fragmented")
    if size >= 126:
        size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8))
    if size > limit and code < _CLOSE:
        raise _ProtocolViolation(_MESSAGE_TOO_BIG, f"message of more than {limit:,} bytes")
    return WebSocketFrame(code, await reader.readexactly(size), is_final)


def _decode_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _ProtocolViolation(_INVALID_TEXT, "text that is not UTF-8") from error


class CodexRpcClient:
    """A JSON-RPC connection. ``on_message`` gets notifications and requests from the server and must not block."""

    def __init__(self, socket: WebSocket, on_message: Callable[[RpcMessage], None]):
        self._socket, self._on_message = socket, on_message
        self._request_ids = count(1)
        self._pending_answers: dict[int, asyncio.Future[RpcMessage]] = {}
        self._is_closed = False

    async def receive_messages(self) -> None:
        """Receive until the connection ends; then raise Unavailable here and in all pending requests."""
        try:
            while True:
                self._process_message(await self._socket.receive())
        finally:
            self._is_closed = True
            # Otherwise pending requests would wait until their timeout.
            for answer in self._pending_answers.values():
                if not answer.done():
                    answer.set_exception(Unavailable("the connection was closed"))
            self._pending_answers.clear()

    async def send_request(
        self, method: str, params: Mapping[str, object], seconds: float = ANSWER_TIMEOUT_S
    ) -> RpcMessage:
        """Send a request and return the result. Raises BadRequest (error reply), TimedOut or Unavailable (closed)."""
        if self._is_closed:
            raise Unavailable("the connection was closed")
        request_id = next(self._request_ids)
        answer: asyncio.Future[RpcMessage] = asyncio.get_running_loop().create_future()
        self._pending_answers[request_id] = answer
        try:
            await self._send({"id": request_id, "method": method, "params": params})
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError as error:
            raise TimedOut(f"{method} timed out after {seconds:g} s") from error
        finally:
            self._pending_answers.pop(request_id, None)

    async def send_notification(self, method: str) -> None:
        await self._send({"method": method})

    async def send_reply(self, request_id: int | str, result: Mapping[str, object]) -> None:
        await self._send({"id": request_id, "result": result})

    async def close(self) -> None:
        await self._socket.close()

    async def _send(self, message: Mapping[str, object]) -> None:
        await self._socket.send(msgspec.json.encode(message).decode())

    def _process_message(self, text: str) -> None:
        try:
            message = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise Unavailable("the server sent invalid JSON") from error
        if not isinstance(message, dict):
            return
        if "method" in message:
            self._on_message(message)
        elif isinstance(request_id := message.get("id"), int) and request_id in self._pending_answers:
            self._resolve_answer(self._pending_answers[request_id], message)

    def _resolve_answer(self, answer: asyncio.Future[RpcMessage], message: RpcMessage) -> None:
        if answer.done():
            return
        result = message.get("result")
        if isinstance(result, dict):
            answer.set_result(result)
        else:
            error = message.get("error")
            reason = error.get("message") if isinstance(error, dict) else None
            answer.set_exception(BadRequest(f"the server rejected the request: {reason or 'no reason given'}"))

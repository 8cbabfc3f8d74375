"""The WebSocket client against a scripted server on a real socket."""

import asyncio
import os
import struct
from contextlib import asynccontextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.agents.adapters.codex.server_client.websocket_rpc import (
    WebSocketFrame,
    apply_mask,
    compute_accept_key,
    connect_websocket,
    encode_frame,
)
from termvisor.errors import Unavailable
from termvisor.testing.private_tmux import make_short_folder

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def encode_server_frame(code: int, data: bytes, *, is_final: bool = True) -> bytes:
    """Encode a frame as servers send it: without a mask."""
    mask = bytes(4)
    first, second, *rest = encode_frame(WebSocketFrame(code, data, is_final), mask)
    head = bytes(rest[: len(rest) - len(data) - len(mask)])
    return bytes((first, second & 0x7F)) + head + data


async def receive_client_frame(reader: asyncio.StreamReader) -> WebSocketFrame:
    """Read the next frame of the client and remove its mask."""
    first, second = await reader.readexactly(2)
    assert second & 0x80, "a client must mask"
    size = second & 0x7F
    if size >= 126:
        size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8))
    mask = await reader.readexactly(4)
    return WebSocketFrame(first & 15, apply_mask(await reader.readexactly(size), mask), bool(first & 0x80))


async def accept_handshake(reader, writer, answer=None):
    head = await reader.readuntil(b"\r\n\r\n")
    key = next(line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key"))
    accepted = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    writer.write(answer or accepted + b"Sec-WebSocket-Accept: " + compute_accept_key(key) + b"\r\n\r\n")


@asynccontextmanager
async def run_websocket_server(play, limit=1 << 20):
    """Run a server that calls `play` once; yield a client and the future of play's result."""
    done = asyncio.get_running_loop().create_future()

    async def serve(reader, writer):
        try:
            await accept_handshake(reader, writer)
            done.set_result(await play(reader, writer))
        finally:
            writer.close()

    with make_short_folder() as folder:
        async with await asyncio.start_unix_server(serve, f"{folder}/s"):
            socket = await connect_websocket(f"{folder}/s", limit)
            try:
                yield socket, done
            finally:
                await socket.close()


async def test_texts_are_sent_and_received():
    async def play(reader, writer):
        frame = await receive_client_frame(reader)
        writer.write(encode_server_frame(TEXT, frame.data + " zurück".encode()))

    async with run_websocket_server(play) as (socket, _):
        await socket.send("grüße")
        assert await socket.receive() == "grüße zurück"


@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
async def test_a_text_of_any_length_is_sent_and_received(size):
    async def play(reader, writer):
        writer.write(encode_server_frame(TEXT, (await receive_client_frame(reader)).data))

    async with run_websocket_server(play) as (socket, _):
        await socket.send("x" * size)
        assert await socket.receive() == "x" * size


async def test_a_fragmented_message_with_a_ping_between_is_received():
    async def play(reader, writer):
        writer.write(
            encode_server_frame(TEXT, b"one ", is_final=False)
            + encode_server_frame(PING, b"there?")
            + encode_server_frame(0, b"two")
        )
        return await receive_client_frame(reader)

    async with run_websocket_server(play) as (socket, result):
        assert await socket.receive() == "one two"
        assert await result == WebSocketFrame(PONG, b"there?")


async def test_a_close_frame_is_answered_and_raises_unavailable():
    async def play(reader, writer):
        writer.write(encode_server_frame(CLOSE, struct.pack(">H", 1000)))
        return await receive_client_frame(reader)

    async with run_websocket_server(play) as (socket, result):
        with pytest.raises(Unavailable, match="closed"):
            await socket.receive()
        assert await result == WebSocketFrame(CLOSE, struct.pack(">H", 1000))


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (encode_server_frame(TEXT, b"x" * 2000), 1009),
        (encode_server_frame(TEXT, b"x" * 600, is_final=False) + encode_server_frame(0, b"x" * 600), 1009),
        (b"\x81\x7f" + struct.pack(">Q", 1 << 40), 1009),
        (encode_server_frame(BINARY, b"x"), 1003),
        (encode_server_frame(TEXT, b"\xff"), 1007),
        (encode_server_frame(0, b"x"), 1002),
        (encode_server_frame(TEXT, b"a", is_final=False) + encode_server_frame(TEXT, b"b"), 1002),
        (encode_server_frame(PING, b"x", is_final=False), 1002),
        (b"\x89\x7e\x00\x80" + b"x" * 128, 1002),
        (b"\xc1\x01x", 1002),
        (b"\x83\x01x", 1002),
        (b"\x81\x81\0\0\0\0x", 1002),
    ],
    ids=[
        "too long", "too long in pieces", "a huge length", "bytes", "no UTF-8", "a piece of nothing", "mixed pieces",
        "a ping in pieces", "a long ping", "a reserved bit", "an unknown code", "a mask",
    ],
)  # fmt: skip
async def test_a_protocol_violation_closes_the_connection(data, status):
    async def play(reader, writer):
        writer.write(data)
        return await receive_client_frame(reader)

    async with run_websocket_server(play, limit=1000) as (socket, result):
        with pytest.raises(Unavailable, match="violated the WebSocket protocol"):
            await socket.receive()
        assert (await result).data == struct.pack(">H", status)


async def test_a_broken_connection_raises_unavailable():
    async def play(reader, writer):
        writer.write(b"\x81\x05he")

    async with run_websocket_server(play) as (socket, _):
        with pytest.raises(Unavailable, match="closed"):
            await socket.receive()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 404 Not Found\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: wrong\r\n\r\n",
        b"SSH-2.0-x\r\n\r\n",
        b"x" * 40_000,
        b"",
    ],
    ids=["refusal", "wrong key", "another protocol", "endless head", "nothing"],
)
async def test_a_server_that_does_not_speak_websocket_is_unavailable(answer):
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    with make_short_folder() as folder:
        async with await asyncio.start_unix_server(serve, f"{folder}/s"):
            with pytest.raises(Unavailable, match="does not speak"):
                await connect_websocket(f"{folder}/s")


async def test_a_missing_server_is_reported():
    with make_short_folder() as folder, pytest.raises(Unavailable, match="cannot connect"):
        await connect_websocket(f"{folder}/s")


async def test_a_socket_of_another_user_is_not_used(monkeypatch):
    with make_short_folder() as folder:
        async with await asyncio.start_unix_server(lambda *_: None, f"{folder}/s"):
            monkeypatch.setattr(os, "getuid", lambda: 12345)
            with pytest.raises(Unavailable, match="another user"):
                await connect_websocket(f"{folder}/s")


def test_the_accept_key_is_that_of_the_standard():
    assert compute_accept_key(b"dGhlIHNhbXBsZSBub25jZQ==") == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@given(st.binary(max_size=300), st.binary(min_size=4, max_size=4))
def test_applying_a_mask_twice_restores_the_data(data, mask):
    assert apply_mask(apply_mask(data, mask), mask) == data
    assert apply_mask(data, mask) == bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))


def test_a_frame_is_sent_with_its_mask():
    assert encode_frame(WebSocketFrame(TEXT, b"ab"), b"\x01\x02\x03\x04") == b"\x81\x82\x01\x02\x03\x04" + b"``"

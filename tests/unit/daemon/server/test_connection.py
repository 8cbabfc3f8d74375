"""Connections with malformed, fast, slow and disconnecting clients."""

import asyncio
import os
import socket
from collections.abc import Callable

from termvisor.daemon.server.connection import ConnectionLimits
from termvisor.protocol import command_protocol, jsonrpc
from tests.unit.daemon.fake_request_handler import FakeRequestHandler, connect_client, run_socket_server


async def test_a_client_of_another_user_is_rejected(path: str) -> None:
    async with (
        run_socket_server(path, FakeRequestHandler(), ConnectionLimits(uid=os.getuid() + 1)),
        connect_client(path) as one,
    ):
        one.send(b'{"id":1,"method":"echo"}\n')
        assert await _read_to_end(one.reader) == b""


async def test_requests_run_concurrently_on_one_connection(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler), connect_client(path) as one:
        one.send(b'{"id":"slow","method":"wait"}\n')
        await handler.begun.wait()
        assert (await one.call("echo", request_id=2))["id"] == 2
        handler.may_finish.set()
        assert await one.read_message() == {"jsonrpc": "2.0", "id": "slow", "result": "finished"}


async def test_a_client_that_disconnects_ends_its_running_request(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler):
        async with connect_client(path) as one:
            one.send(b'{"id":1,"method":"wait"}\n')
            await handler.begun.wait()
        await handler.cancelled.wait()


async def test_a_request_can_be_cancelled_by_its_id(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler), connect_client(path) as one:
        one.send(b'{"id":1,"method":"wait"}\n')
        await handler.begun.wait()
        one.send(b'{"method":"cancel","params":{"id":1}}\n')
        await handler.cancelled.wait()
        assert (await one.call("echo", request_id=2))["id"] == 2


async def test_a_client_that_closed_its_sending_side_still_gets_its_answer(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler), connect_client(path) as one:
        one.send(b'{"id":1,"method":"wait"}')
        one.writer.write_eof()
        await handler.begun.wait()
        handler.may_finish.set()
        assert (await one.read_message())["result"] == "finished"
        assert await one.read_to_end() == b""


async def test_a_half_closed_client_that_disconnects_ends_its_request(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler):
        async with connect_client(path) as one:
            one.send(b'{"id":1,"method":"wait"}\n')
            one.writer.write_eof()
            await handler.begun.wait()
        await handler.cancelled.wait()


async def test_a_line_past_the_limit_is_answered_and_ends_the_connection(path: str) -> None:
    async with (
        run_socket_server(path, FakeRequestHandler(), ConnectionLimits(max_line_bytes=1000)),
        connect_client(path) as one,
    ):
        one.send(b"x" * 1001)
        assert (await one.read_message())["error"]["code"] == jsonrpc.INVALID_REQUEST
        assert await one.read_to_end() == b""


async def test_garbage_gets_an_error_and_the_connection_stays_open(path: str) -> None:
    async with run_socket_server(path, FakeRequestHandler()), connect_client(path) as one:
        one.send(b"\x00\xff garbage\n")
        assert (await one.read_message())["error"]["code"] == jsonrpc.PARSE_ERROR
        assert (await one.call("echo", request_id=5))["id"] == 5


async def test_requests_above_the_limit_are_queued(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler, ConnectionLimits(max_in_flight=2)), connect_client(path) as one:
        one.send(b'{"id":1,"method":"wait"}\n{"id":2,"method":"wait"}\n')
        one.send(b"".join(jsonrpc.encode_message(jsonrpc.RpcRequest("echo", {}, number)) for number in range(3, 500)))
        await handler.begun.wait()
        handler.may_finish.set()
        received = [(await one.read_message())["id"] for _ in range(1, 500)]
        assert sorted(received) == list(range(1, 500))


async def test_a_client_that_never_reads_is_dropped_and_others_are_served(path: str) -> None:
    limits = ConnectionLimits(stall_timeout_s=0.2, max_unread_bytes=1000)
    with socket.socket(socket.AF_UNIX) as client:
        async with run_socket_server(path, FakeRequestHandler(), limits) as server, connect_client(path) as one:
            client.connect(path)
            request = jsonrpc.encode_message(jsonrpc.RpcRequest("big", {"count": 1_000_000}, 1))
            client.sendall(request * 20)
            assert (await one.call("echo"))["result"] == {}
            await _wait_until(lambda: len(server._connections) == 1)
            assert (await one.call("echo"))["result"] == {}


async def test_a_command_client_that_never_reads_is_dropped(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        async with run_socket_server(
            path, FakeRequestHandler(), ConnectionLimits(stall_timeout_s=0.2, max_unread_bytes=1000)
        ) as server:
            client.connect(path)
            await asyncio.to_thread(
                client.sendall,
                command_protocol.encode_request(command_protocol.CommandRequest(("echo", "x" * 1_000_000))),
            )
            await _wait_until(lambda: len(server._connections) == 1)
            await _wait_until(lambda: not server._connections)


async def test_input_after_a_command_line_is_ignored(path: str) -> None:
    async with run_socket_server(path, FakeRequestHandler()), connect_client(path) as one:
        one.send(
            command_protocol.encode_request(command_protocol.CommandRequest(("echo",))) + b'{"id":1,"method":"echo"}\n'
        )
        received = command_protocol.FrameDecoder().feed(await one.read_to_end())
        assert [kind for kind, _, _ in received] == [b"a", b"o", b"e", b"x"]


async def _read_to_end(reader: asyncio.StreamReader) -> bytes:
    """Read to the end; an aborted connection may be a reset or an end of file."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def _wait_until(check: Callable[[], bool]) -> None:
    while not check():
        await asyncio.sleep(0.01)


async def test_cancelling_one_request_leaves_the_others_running(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler), connect_client(path) as one:
        one.send(b'{"id":1,"method":"wait"}\n')
        await handler.begun.wait()
        handler.begun.clear()
        one.send(b'{"id":2,"method":"wait"}\n')
        await handler.begun.wait()
        one.send(b'{"method":"cancel","params":{"id":1}}\n')
        await handler.cancelled.wait()
        handler.may_finish.set()
        assert await one.read_message() == {"jsonrpc": "2.0", "id": 2, "result": "finished"}


async def test_a_stream_ends_with_the_item_that_its_client_cannot_get(path: str) -> None:
    handler, sent = FakeRequestHandler(), []

    async def stream(_name: str, _params: object, _peer: object):
        for number in range(3):
            sent.append(number)
            yield number
            # The transport closes at once, asyncio reports the lost connection in the next iteration of its loop.
            (connection,) = server._connections
            connection._transport.abort()

    handler.stream_operation = stream  # type: ignore[method-assign]
    async with run_socket_server(path, handler) as server, connect_client(path) as one:
        one.send(b'{"id":1,"method":"watch_numbers"}\n')
        await _read_to_end(one.reader)
    assert sent == [0, 1]

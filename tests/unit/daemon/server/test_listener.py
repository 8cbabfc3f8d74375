"""The daemon's socket is private, exclusive and removed at the stop."""

import asyncio
import os
import resource
import socket
import stat
from pathlib import Path

import pytest

from termvisor.daemon.server.connection import ConnectionLimits
from termvisor.daemon.server.listener import MAX_CLIENTS, OverloadHandler, bind_daemon_socket, compute_max_clients
from termvisor.errors import Conflict, Unavailable
from termvisor.protocol import command_protocol
from termvisor.protocol.unix_socket import PeerProcess
from tests.unit.daemon.fake_request_handler import FakeRequestHandler, connect_client, run_socket_server
from tests.unit.wait_until import wait_until


async def test_the_socket_is_private_and_removed_at_the_stop(path: str) -> None:
    async with run_socket_server(path, FakeRequestHandler()):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not os.path.exists(path)


async def test_a_socket_left_by_a_killed_daemon_is_bound_again(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    async with run_socket_server(path, FakeRequestHandler()), connect_client(path) as one:
        assert (await one.call("echo", word="hi"))["result"] == {"word": "hi"}


async def test_a_socket_in_use_is_not_replaced(path: str) -> None:
    async with run_socket_server(path, FakeRequestHandler()), connect_client(path) as one:
        with pytest.raises(Conflict, match="another daemon"):
            bind_daemon_socket(path)
        assert (await one.call("echo"))["result"] == {}


async def test_a_file_that_is_not_a_socket_is_not_replaced(path: str) -> None:
    with open(path, "w") as file:
        file.write("precious")
    with pytest.raises(Unavailable, match="not a socket"):
        bind_daemon_socket(path)
    with open(path) as file:
        assert file.read() == "precious"


async def test_a_missing_folder_is_reported(path: str) -> None:
    with pytest.raises(Unavailable, match="cannot listen"):
        bind_daemon_socket(f"{path}/nowhere/s")


async def test_two_hundred_concurrent_clients_are_answered(path: str) -> None:
    async def ask(number: int) -> int:
        async with connect_client(path) as one:
            answers = [(await one.call("echo", request_id=turn, n=number))["result"]["n"] for turn in range(5)]
            return sum(answers)

    async with run_socket_server(path, FakeRequestHandler()):
        assert await asyncio.gather(*map(ask, range(200))) == [5 * number for number in range(200)]


async def test_close_waits_for_running_requests_and_ends_streams(path: str) -> None:
    handler = FakeRequestHandler()
    async with (
        run_socket_server(path, handler) as server,
        connect_client(path) as one,
        connect_client(path) as listener,
    ):
        one.send(b'{"id":1,"method":"wait"}\n')
        await handler.begun.wait()
        handler.begun.clear()
        listener.send(b'{"id":1,"method":"watch_numbers","params":{"count":0,"forever":true}}\n')
        await handler.begun.wait()
        async with asyncio.TaskGroup() as group:
            closing = group.create_task(server.close(drain_timeout_s=60.0))
            await handler.cancelled.wait()
            assert not closing.done()
            handler.may_finish.set()
        assert (await one.read_message())["result"] == "finished"
        assert await one.read_to_end() == b""
        assert await listener.read_to_end() == b""


async def test_a_request_that_does_not_finish_is_cancelled_after_the_timeout(path: str) -> None:
    handler = FakeRequestHandler()
    async with run_socket_server(path, handler) as server, connect_client(path) as one:
        one.send(b'{"id":1,"method":"wait"}\n')
        await handler.begun.wait()
        await server.close(drain_timeout_s=0.01)
        await handler.cancelled.wait()
        assert await one.read_to_end() == b""


async def test_a_successors_socket_is_not_removed(path: str) -> None:
    async with run_socket_server(path, FakeRequestHandler()):
        os.unlink(path)
        successor = bind_daemon_socket(path)
    assert os.path.exists(path)
    successor.close()


TWO = ConnectionLimits(max_clients=2)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "d")


async def test_a_client_above_the_limit_gets_an_error_and_others_are_served(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("termvisor.daemon.server.listener._OVERLOAD_CLOSE_DELAY_S", 0.1)
    async with (
        run_socket_server(path, FakeRequestHandler(), TWO),
        connect_client(path) as one,
        connect_client(path) as two,
        connect_client(path) as late,
    ):
        assert (await one.call("echo"))["result"] == (await two.call("echo"))["result"] == {}
        error = (await late.call("echo"))["error"]
        assert "more than 2 clients" in error["message"]
        assert await late.read_to_end() == b""
        assert (await one.call("echo"))["result"] == {}


async def test_a_command_line_above_the_client_limit_gets_an_error(path: str) -> None:
    async with (
        run_socket_server(path, FakeRequestHandler(), TWO),
        connect_client(path) as one,
        connect_client(path) as two,
        connect_client(path) as late,
    ):
        await one.call("echo")
        await two.call("echo")
        late.send(command_protocol.encode_request(command_protocol.CommandRequest(("echo",))))
        received = await late.read_to_end()
        assert b"more than 2 clients" in received and b"hint: Close some of them" in received


async def test_a_disconnect_frees_a_slot(path: str) -> None:
    async with run_socket_server(path, FakeRequestHandler(), TWO) as point, connect_client(path) as one:
        async with connect_client(path) as two:
            await one.call("echo")
            await two.call("echo")
        await wait_until(lambda: len(point._connections) == 1)
        async with connect_client(path) as late:
            assert (await late.call("echo"))["result"] == {}


async def test_shutdown_works_above_the_client_limit(path: str) -> None:
    handler = FakeRequestHandler()
    async with (
        run_socket_server(path, handler, TWO),
        connect_client(path) as one,
        connect_client(path) as two,
        connect_client(path) as late,
    ):
        await one.call("echo")
        await two.call("echo")
        await late.call("shutdown")
        assert handler.stopped.is_set()


def test_the_client_limit_leaves_descriptors_for_panes_and_files() -> None:
    assert 0 < compute_max_clients() <= MAX_CLIENTS


async def test_beyond_the_limit_every_operation_is_refused_and_the_daemon_can_still_be_stopped() -> None:
    handler = FakeRequestHandler()
    overloaded, peer = OverloadHandler(handler, 7), PeerProcess(1000, 42)
    request = command_protocol.CommandRequest(("echo",))
    calls = (
        overloaded.call_operation("echo", {}, peer),
        anext(overloaded.run_command(request, peer)),
        anext(overloaded.stream_operation("watch_numbers", {"count": 1}, peer)),
    )
    for call in calls:
        with pytest.raises(Unavailable, match="more than 7 clients"):
            await call
    await overloaded.reload()
    overloaded.stop(keep_recorder=True)
    assert (handler.reloads, handler.stopped.is_set(), handler.keeps_recorder) == (1, True, True)
    assert overloaded.get_hello() == handler.get_hello()


@pytest.mark.parametrize(
    ("descriptors", "clients"),
    [(100, 50), (2 * MAX_CLIENTS - 2, MAX_CLIENTS - 1), (10**6, MAX_CLIENTS), (resource.RLIM_INFINITY, MAX_CLIENTS)],
)
def test_clients_may_use_half_of_the_descriptors(monkeypatch, descriptors: int, clients: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _kind: (descriptors, descriptors))
    assert compute_max_clients() == clients

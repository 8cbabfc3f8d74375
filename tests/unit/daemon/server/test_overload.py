"""A client beyond the limit gets an error in its own protocol; the others are not affected."""

from pathlib import Path

import pytest

from termvisor.daemon.server.connection import ConnectionLimits
from termvisor.daemon.server.overload import MAX_CLIENTS, compute_max_clients
from termvisor.protocol import command_protocol
from tests.unit.daemon.fake_request_handler import FakeRequestHandler, connect_client, run_socket_server
from tests.unit.wait_until import wait_until

TWO = ConnectionLimits(max_clients=2)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "d")


async def test_a_program_too_many_gets_an_error_and_the_others_are_served(path: str) -> None:
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


async def test_a_command_line_beyond_the_limit_gets_an_error(path: str) -> None:
    async with (
        run_socket_server(path, FakeRequestHandler(), TWO),
        connect_client(path) as one,
        connect_client(path) as two,
        connect_client(path) as late,
    ):
        await one.call("echo")
        await two.call("echo")
        late.send(command_protocol.encode_request(command_protocol.CommandRequest(("echo",))))
        heard = await late.read_to_end()
        assert b"more than 2 clients" in heard and b"hint: Close some of them" in heard


async def test_a_disconnect_frees_a_slot(path: str) -> None:
    async with run_socket_server(path, FakeRequestHandler(), TWO) as point, connect_client(path) as one:
        async with connect_client(path) as two:
            await one.call("echo")
            await two.call("echo")
        await wait_until(lambda: len(point._connections) == 1)
        async with connect_client(path) as late:
            assert (await late.call("echo"))["result"] == {}


async def test_shutdown_works_beyond_the_limit(path: str) -> None:
    desk = FakeRequestHandler()
    async with (
        run_socket_server(path, desk, TWO),
        connect_client(path) as one,
        connect_client(path) as two,
        connect_client(path) as late,
    ):
        await one.call("echo")
        await two.call("echo")
        await late.call("shutdown")
        assert desk.stopped.is_set()


def test_descriptors_are_left_for_panes_and_files() -> None:
    assert 0 < compute_max_clients() <= MAX_CLIENTS

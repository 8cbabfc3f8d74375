"""One client too many: it is told so in its own protocol, and let go; the others do not notice."""

from pathlib import Path

import pytest

from termvisor.daemon.server.connection import Limits
from termvisor.daemon.server.overload import MOST, most_clients
from termvisor.protocol import command_protocol as face
from tests.unit.daemon.office import FakeDesk, client, endpoint
from tests.unit.waiting import until

TWO = Limits(clients=2)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "d")


async def test_a_program_too_many_gets_an_error_and_the_others_are_served(path: str) -> None:
    async with endpoint(path, FakeDesk(), TWO), client(path) as one, client(path) as two, client(path) as late:
        assert (await one.ask("echo"))["result"] == (await two.ask("echo"))["result"] == {}
        error = (await late.ask("echo"))["error"]
        assert "more than 2 clients" in error["message"]
        assert await late.hear_end() == b""
        assert (await one.ask("echo"))["result"] == {}


async def test_a_command_line_too_many_is_told_and_fails(path: str) -> None:
    async with endpoint(path, FakeDesk(), TWO), client(path) as one, client(path) as two, client(path) as late:
        await one.ask("echo")
        await two.ask("echo")
        late.send(face.encode(face.Asked(("echo",))))
        heard = await late.hear_end()
        assert b"more than 2 clients" in heard and b"hint: Close some of them" in heard


async def test_whoever_leaves_makes_room(path: str) -> None:
    async with endpoint(path, FakeDesk(), TWO) as point, client(path) as one:
        async with client(path) as two:
            await one.ask("echo")
            await two.ask("echo")
        await until(lambda: len(point._connections) == 1)
        async with client(path) as late:
            assert (await late.ask("echo"))["result"] == {}


async def test_a_crowd_keeps_nobody_from_ending_the_daemon(path: str) -> None:
    desk = FakeDesk()
    async with endpoint(path, desk, TWO), client(path) as one, client(path) as two, client(path) as late:
        await one.ask("echo")
        await two.ask("echo")
        await late.ask("shutdown")
        assert desk.stopped.is_set()


def test_descriptors_are_left_for_panes_and_files() -> None:
    assert 0 < most_clients() <= MOST

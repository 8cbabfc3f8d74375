"""Requests meet the real operations, over a world in memory."""

from contextlib import aclosing

import pytest

from termvisor.daemon.server.dispatcher import OpsDesk, framed
from termvisor.errors import UnknownCommand
from termvisor.ops.api.dispatch import Stderr
from termvisor.protocol import command_protocol as face
from termvisor.system.peer_credentials import Peer
from termvisor.testing.world import MemoryWorld, shell

ME = Peer(1000, 42)


@pytest.fixture
def world() -> MemoryWorld:
    world = MemoryWorld()
    world.pane(shell("%1"))
    return world


async def heard(world: MemoryWorld, *words: str, is_robot: bool = False) -> list[tuple[bytes, int, bytes]]:
    desk = OpsDesk(world, lambda: None)  # type: ignore[arg-type]
    async with aclosing(desk.answer(face.Asked(words, is_robot), ME)) as frames:
        data = b"".join([frame async for frame in frames])
    return face.Frames().feed(data)


async def test_a_command_line_is_answered_with_output_and_status(world: MemoryWorld) -> None:
    (_, _, text), end = await heard(world, "list-panes")
    assert b"bash" in text
    assert end == (b"x", 0, b"")


async def test_an_error_goes_to_stderr_with_its_status(world: MemoryWorld) -> None:
    (kind, _, text), end = await heard(world, "get-text", "99")
    assert (kind, end[:2]) == (b"e", (b"x", 4))
    assert b"99" in text


async def test_a_command_that_needs_no_daemon_is_given_back(world: MemoryWorld) -> None:
    assert await heard(world, "version") == [(b"l", 0, b"")]
    assert await heard(world, is_robot=True) == [(b"l", 0, b"")]


async def test_an_unknown_command_is_answered_here(world: MemoryWorld) -> None:
    (_, _, text), end = await heard(world, "list-pains")
    assert b"list-panes" in text
    assert end[:2] == (b"x", 2)


async def test_calls_and_streams_reach_the_operations(world: MemoryWorld) -> None:
    desk = OpsDesk(world, lambda: None)  # type: ignore[arg-type]
    world.happen("alert")
    assert (await desk.call("list_panes", {}, ME)).summary.panes == 1
    assert [event.kind async for event in desk.stream("watch_events", {"once": True}, ME)] == ["alert"]
    with pytest.raises(UnknownCommand):
        await desk.call("nothing", {}, ME)


def test_hello_names_the_streams(world: MemoryWorld) -> None:
    hello = OpsDesk(world, lambda: None).hello()  # type: ignore[arg-type]
    assert "watch_events" in hello.streams
    assert hello.protocol == face.PROTOCOL


def test_stop_says_whether_the_recorder_stays(world: MemoryWorld) -> None:
    stopped: list[bool] = []
    OpsDesk(world, lambda: stopped.append(True)).stop(keep_recorder=True)  # type: ignore[arg-type]
    assert (stopped, world.keeps_recorder) == ([True], True)  # type: ignore[attr-defined]


def test_pieces_of_an_answer_become_frames() -> None:
    assert framed(b"out") == b"o 3\nout"
    assert framed(Stderr(b"err")) == b"e 3\nerr"
    assert framed(5) == b"x 5\n"

"""Requests run real operations on fake services."""

from contextlib import aclosing

import pytest

from termvisor.daemon.server.dispatcher import OperationDispatcher, encode_frame
from termvisor.errors import UnknownCommand
from termvisor.ops.api.dispatch import StderrChunk
from termvisor.protocol import command_protocol
from termvisor.protocol.unix_socket import PeerProcess
from termvisor.testing.fake_services import FakeServices, build_shell_facts

ME = PeerProcess(1000, 42)


@pytest.fixture
def services() -> FakeServices:
    services = FakeServices()
    services.add_pane(build_shell_facts("%1"))
    return services


async def heard(services: FakeServices, *words: str, is_robot: bool = False) -> list[tuple[bytes, int, bytes]]:
    desk = OperationDispatcher(services, lambda: None)  # type: ignore[arg-type]
    async with aclosing(desk.run_command(command_protocol.CommandRequest(words, is_robot), ME)) as frames:
        data = b"".join([frame async for frame in frames])
    return command_protocol.FrameDecoder().feed(data)


async def test_a_command_line_is_answered_with_output_and_status(services: FakeServices) -> None:
    (_, _, text), end = await heard(services, "list-panes")
    assert b"bash" in text
    assert end == (b"x", 0, b"")


async def test_an_error_goes_to_stderr_with_its_status(services: FakeServices) -> None:
    (kind, _, text), end = await heard(services, "get-text", "99")
    assert (kind, end[:2]) == (b"e", (b"x", 4))
    assert b"99" in text


async def test_a_command_that_needs_no_daemon_is_given_back(services: FakeServices) -> None:
    assert await heard(services, "version") == [(b"l", 0, b"")]
    assert await heard(services, is_robot=True) == [(b"l", 0, b"")]


async def test_an_unknown_command_is_answered_here(services: FakeServices) -> None:
    (_, _, text), end = await heard(services, "list-pains")
    assert b"list-panes" in text
    assert end[:2] == (b"x", 2)


async def test_calls_and_streams_reach_the_operations(services: FakeServices) -> None:
    desk = OperationDispatcher(services, lambda: None)  # type: ignore[arg-type]
    services.add_event("alert")
    assert (await desk.call_operation("list_panes", {}, ME)).summary.panes == 1
    assert [event.kind async for event in desk.stream_operation("watch_events", {"once": True}, ME)] == ["alert"]
    with pytest.raises(UnknownCommand):
        await desk.call_operation("nothing", {}, ME)


def test_hello_names_the_streams(services: FakeServices) -> None:
    hello = OperationDispatcher(services, lambda: None).get_hello()  # type: ignore[arg-type]
    assert "watch_events" in hello.streams
    assert hello.protocol == command_protocol.PROTOCOL_VERSION


def test_stop_says_whether_the_recorder_stays(services: FakeServices) -> None:
    stopped: list[bool] = []
    OperationDispatcher(services, lambda: stopped.append(True)).stop(keep_recorder=True)  # type: ignore[arg-type]
    assert (stopped, services.keeps_recorder) == ([True], True)  # type: ignore[attr-defined]


def test_pieces_of_an_answer_become_frames() -> None:
    assert encode_frame(b"out") == b"o 3\nout"
    assert encode_frame(StderrChunk(b"err")) == b"e 3\nerr"
    assert encode_frame(5) == b"x 5\n"

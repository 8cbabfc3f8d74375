"""Requests run real operations on fake services."""

from contextlib import aclosing

import pytest

from termvisor.daemon.server.dispatcher import OperationDispatcher, encode_frame
from termvisor.errors import ConfigError, UnknownCommand
from termvisor.model.action.action import Actor
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


async def run_and_decode(services: FakeServices, *words: str, is_robot: bool = False) -> list[tuple[bytes, int, bytes]]:
    dispatcher = OperationDispatcher(services, lambda: None)  # type: ignore[arg-type]
    async with aclosing(dispatcher.run_command(command_protocol.CommandRequest(words, is_robot), ME)) as frames:
        data = b"".join([frame async for frame in frames])
    return command_protocol.FrameDecoder().feed(data)


async def test_a_command_line_is_answered_with_output_and_status(services: FakeServices) -> None:
    (_, _, text), end = await run_and_decode(services, "list-panes")
    assert b"bash" in text
    assert end == (b"x", 0, b"")


async def test_an_error_goes_to_stderr_with_its_status(services: FakeServices) -> None:
    (kind, _, text), end = await run_and_decode(services, "get-text", "99")
    assert (kind, end[:2]) == (b"e", (b"x", 4))
    assert b"99" in text


async def test_a_local_command_is_returned_to_the_client(services: FakeServices) -> None:
    assert await run_and_decode(services, "version") == [(b"l", 0, b"")]
    assert await run_and_decode(services, is_robot=True) == [(b"l", 0, b"")]


async def test_an_unknown_command_is_answered_by_the_daemon(services: FakeServices) -> None:
    (_, _, text), end = await run_and_decode(services, "list-pains")
    assert b"list-panes" in text
    assert end[:2] == (b"x", 2)


async def test_calls_and_streams_reach_the_operations(services: FakeServices) -> None:
    dispatcher = OperationDispatcher(services, lambda: None)  # type: ignore[arg-type]
    services.add_event("alert")
    assert (await dispatcher.call_operation("list_panes", {}, ME)).summary.panes == 1
    assert [event.kind async for event in dispatcher.stream_operation("watch_events", {"once": True}, ME)] == ["alert"]
    with pytest.raises(UnknownCommand):
        await dispatcher.call_operation("nothing", {}, ME)


def test_hello_names_the_streams(services: FakeServices) -> None:
    hello = OperationDispatcher(services, lambda: None).get_hello()  # type: ignore[arg-type]
    assert "watch_events" in hello.streams
    assert hello.protocol == command_protocol.PROTOCOL_VERSION


def test_stop_reports_whether_the_recorder_is_kept(services: FakeServices) -> None:
    stopped: list[bool] = []
    OperationDispatcher(services, lambda: stopped.append(True)).stop(keep_recorder=True)  # type: ignore[arg-type]
    assert (stopped, services.keeps_recorder) == ([True], True)  # type: ignore[attr-defined]


def test_output_chunks_are_encoded_as_frames() -> None:
    assert encode_frame(b"out") == b"o 3\nout"
    assert encode_frame(StderrChunk(b"err")) == b"e 3\nerr"
    assert encode_frame(5) == b"x 5\n"


@pytest.mark.parametrize(("is_robot", "face"), [(False, "cli"), (True, "robot")])
async def test_the_daemon_identifies_the_caller_of_every_request(services, is_robot, face) -> None:
    identified, actors = [], []
    actor = Actor(kind="robot", uid=1000, pid=42)

    class Callers:
        async def identify(self, *caller: object) -> Actor:
            identified.append(caller)
            return actor

    services.callers = Callers()
    services.bind_caller = lambda actor: actors.append(actor) or services
    dispatcher = OperationDispatcher(services, lambda: None)
    request = command_protocol.CommandRequest(("list-panes",), is_robot, "/", command_protocol.TerminalInfo())
    async with aclosing(dispatcher.run_command(request, ME)) as frames:
        assert [frame async for frame in frames]
    await dispatcher.call_operation("list_panes", {}, ME)
    assert identified == [(face, ME), (ME.face, ME)]
    assert actors == [actor, actor]


async def test_settings_are_reloaded_and_a_failure_is_only_logged(services, caplog) -> None:
    dispatcher, calls = OperationDispatcher(services, lambda: None), []

    async def reload_settings() -> object:
        calls.append("reload")
        raise ConfigError("config.toml:3: not TOML")

    services.maintenance.reload_settings = reload_settings
    await dispatcher.reload()
    assert calls == ["reload"]
    assert "config.toml:3: not TOML" in caplog.text

"""One request and its answer."""

import asyncio

import pytest

from termvisor.daemon.server.dispatcher import ClientContext, ClientDisconnected, handle_command, handle_rpc
from termvisor.errors import NotFound
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import PeerProcess
from tests.unit.daemon.fake_request_handler import FakeRequestHandler

ME = PeerProcess(1000, 42)


class ResponseCollector:
    def __init__(self) -> None:
        self.data = b""

    async def __call__(self, data: bytes) -> None:
        self.data += data

    @property
    def frames(self) -> list[tuple[bytes, int, bytes]]:
        return command_protocol.FrameDecoder().feed(self.data)

    @property
    def answers(self) -> list[jsonrpc.IncomingMessage]:
        return [jsonrpc.parse_incoming(line) for line in self.data.splitlines()]


async def call_method(method: str, to: int | str | None = 1, **params: object) -> list[jsonrpc.IncomingMessage]:
    collector = ResponseCollector()
    await handle_rpc(ClientContext(FakeRequestHandler(), ME), jsonrpc.RpcRequest(method, params, to), collector)
    return collector.answers


async def test_a_command_line_is_acknowledged_answered_and_ends_with_its_status() -> None:
    collector = ResponseCollector()
    await handle_command(
        ClientContext(FakeRequestHandler(), ME),
        command_protocol.encode_request(command_protocol.CommandRequest(("echo", "hi"))),
        collector,
    )
    assert collector.frames == [
        (b"a", command_protocol.PROTOCOL_VERSION, b""),
        (b"o", 7, b"echo hi"),
        (b"e", 10, b"by the way"),
        (b"x", 3, b""),
    ]


async def test_a_version_mismatch_says_which_side_to_upgrade() -> None:
    collector = ResponseCollector()
    await handle_command(ClientContext(FakeRequestHandler(), ME), b"!99\x1fsomething new", collector)
    assert "daemon is older" in collector.frames[1][2].decode()
    assert collector.frames[-1][:2] == (b"x", 69)


async def test_a_malformed_command_line_is_rejected() -> None:
    collector = ResponseCollector()
    await handle_command(ClientContext(FakeRequestHandler(), ME), b"!2\x1fshort", collector)
    assert collector.frames[-1][:2] == (b"x", 2)


async def test_a_failed_command_ends_with_a_message_and_status_70() -> None:
    collector = ResponseCollector()
    await handle_command(
        ClientContext(FakeRequestHandler(), ME),
        command_protocol.encode_request(command_protocol.CommandRequest(("boom",))),
        collector,
    )
    assert b"visor: the request failed: ZeroDivisionError" in collector.frames[-2][2]
    assert collector.frames[-1][:2] == (b"x", 70)


async def test_a_stream_sends_its_items_and_then_their_count() -> None:
    *items, end = await call_method("watch_numbers", to="s", count=3)
    assert [(item.method, item.params) for item in items] == [
        ("item", jsonrpc.StreamItem("s", number)) for number in range(3)
    ]
    assert (end.id, end.result) == ("s", {"items": 3})


async def test_an_unknown_method_is_an_error_with_code_and_hint() -> None:
    (answer,) = await call_method("ecko")
    assert answer.error == jsonrpc.RpcError(
        jsonrpc.METHOD_NOT_FOUND,
        "there is no ecko",
        jsonrpc.RpcErrorData("unknown_command", "Did you mean echo?", {"nearest": ["echo"]}, 2),
    )


@pytest.mark.parametrize(
    ("method", "number", "code"), [("missing", -32000, "pane_not_found"), ("boom", -32603, "internal")]
)
async def test_an_error_response_has_its_code(method: str, number: int, code: str) -> None:
    (answer,) = await call_method(method)
    assert answer.error is not None
    assert answer.error.data is not None
    assert (answer.error.code, answer.error.data.code) == (number, code)
    assert "secret details" not in answer.error.message


async def test_a_notification_is_executed_and_not_answered() -> None:
    collector = ResponseCollector()
    await handle_rpc(ClientContext(FakeRequestHandler(), ME), jsonrpc.RpcRequest("missing"), collector)
    assert collector.data == b""


async def test_hello_reports_version_protocol_and_pid() -> None:
    (answer,) = await call_method("hello", protocol=command_protocol.PROTOCOL_VERSION)
    assert answer.result == {
        "version": "9.9.9",
        "protocol": command_protocol.PROTOCOL_VERSION,
        "pid": 4242,
        "streams": ["watch_numbers"],
    }


@pytest.mark.parametrize(
    ("protocol", "code"),
    [(command_protocol.PROTOCOL_VERSION + 1, "unsupported"), (0, "unsupported"), ("one", "invalid_args")],
)
async def test_hello_in_another_protocol_is_rejected(protocol: object, code: str) -> None:
    (answer,) = await call_method("hello", protocol=protocol)
    assert answer.error is not None
    assert answer.error.data is not None
    assert answer.error.data.code == code


async def test_shutdown_is_answered_and_starts_the_stop() -> None:
    handler, collector = FakeRequestHandler(), ResponseCollector()
    await handle_rpc(ClientContext(handler, ME), jsonrpc.RpcRequest("shutdown", {"keep_recorder": True}, 1), collector)
    assert collector.answers[0].result == {"stopping": True, "pid": 4242}
    assert (handler.stopped.is_set(), handler.keeps_recorder) == (True, True)


async def test_an_unencodable_result_is_an_internal_error() -> None:
    class Odd(FakeRequestHandler):
        async def call_operation(self, _name: str, _params: dict[str, object], _who: PeerProcess) -> object:
            return object()

    collector = ResponseCollector()
    await handle_rpc(ClientContext(Odd(), ME), jsonrpc.RpcRequest("echo", {}, 1), collector)
    assert collector.answers[0].error is not None


async def test_an_operation_that_is_followed_streams_its_items() -> None:
    items = [answer.params.item for answer in (await call_method("audit", count=2, follow=True))[:-1]]
    assert items == [0, 1]
    (answer,) = await call_method("echo", follow=False)
    assert answer.result == {"follow": False}


def encode_command(*argv: str) -> bytes:
    return command_protocol.encode_request(command_protocol.CommandRequest(argv))


@pytest.mark.parametrize(
    "run_request",
    [
        lambda caller, send: handle_rpc(caller, jsonrpc.RpcRequest("watch_numbers", {"count": 3}, 1), send),
        lambda caller, send: handle_rpc(caller, jsonrpc.RpcRequest("echo", {}, 1), send),
        lambda caller, send: handle_command(caller, encode_command("echo"), send),
        lambda caller, send: handle_command(caller, encode_command("hook"), send),
    ],
    ids=["stream", "call", "command", "hook"],
)
async def test_a_client_that_left_ends_its_request_and_gets_no_error(run_request) -> None:
    sent: list[bytes] = []

    async def send(data: bytes) -> None:
        sent.append(data)
        raise ClientDisconnected

    with pytest.raises(ClientDisconnected):
        await run_request(ClientContext(FakeRequestHandler(), ME), send)
    assert len(sent) == 1


async def test_a_failed_hook_is_answered_with_its_error() -> None:
    class Failing(FakeRequestHandler):
        async def run_command(self, request: command_protocol.CommandRequest, _who: PeerProcess):
            yield command_protocol.encode_output(b"o", b"first")
            raise NotFound("no pane 7", hint="See `visor list-panes`.")

    collector = ResponseCollector()
    await handle_command(ClientContext(Failing(), ME), encode_command("hook", "claude_code"), collector)
    assert [(kind, text) for kind, _, text in collector.frames] == [
        (b"a", b""),
        (b"o", b"first"),
        (b"e", b"visor: no pane 7\nhint: See `visor list-panes`.\n"),
        (b"x", b""),
    ]
    assert collector.frames[-1][1] == NotFound.exit_status


async def count_heartbeats(command: str, may_finish_after: int) -> int:
    """Return how many frames said that the daemon is alive, before and while a command ran."""
    handler, alive = FakeRequestHandler(), asyncio.Semaphore(0)
    handler._hook = handler._wait  # type: ignore[attr-defined]

    async def send(data: bytes) -> None:
        for kind, _, _ in command_protocol.FrameDecoder().feed(data):
            alive.release() if kind == b"a" else None

    async with asyncio.TaskGroup() as group:
        group.create_task(handle_command(ClientContext(handler, ME), encode_command(command), send))
        await handler.begun.wait()
        for _ in range(may_finish_after):
            await alive.acquire()
        handler.may_finish.set()
    return may_finish_after + alive._value


async def test_only_a_hook_gets_heartbeats_while_it_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("termvisor.daemon.server.dispatcher.HEARTBEAT_INTERVAL_S", 0.001)
    assert await count_heartbeats("hook", 3) >= 3
    assert await count_heartbeats("wait", 1) == 1


async def test_hello_declares_the_interface_of_the_connection() -> None:
    peer, collector = PeerProcess(1000, 42), ResponseCollector()
    await handle_rpc(
        ClientContext(FakeRequestHandler(), peer), jsonrpc.RpcRequest("hello", {"face": "mcp"}, 1), collector
    )
    assert peer.face == "mcp"
    await handle_rpc(
        ClientContext(FakeRequestHandler(), peer), jsonrpc.RpcRequest("hello", {"face": "me"}, 2), collector
    )
    assert (
        collector.answers[1].error is not None and "face must be one of cli, tui" in collector.answers[1].error.message
    )

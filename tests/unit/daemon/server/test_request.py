"""One request and its answer."""

import pytest

from termvisor.daemon.server.request import ClientContext, handle_command, handle_rpc
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import PeerProcess
from tests.unit.daemon.fake_request_handler import FakeRequestHandler

ME = PeerProcess(1000, 42)


class Ear:
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


async def ask(method: str, to: int | str | None = 1, **params: object) -> list[jsonrpc.IncomingMessage]:
    ear = Ear()
    await handle_rpc(ClientContext(FakeRequestHandler(), ME), jsonrpc.RpcRequest(method, params, to), ear)
    return ear.answers


async def test_a_command_line_is_acknowledged_answered_and_ends_with_its_status() -> None:
    ear = Ear()
    await handle_command(
        ClientContext(FakeRequestHandler(), ME),
        command_protocol.encode_request(command_protocol.CommandRequest(("echo", "hi"))),
        ear,
    )
    assert ear.frames == [
        (b"a", command_protocol.PROTOCOL_VERSION, b""),
        (b"o", 7, b"echo hi"),
        (b"e", 10, b"by the way"),
        (b"x", 3, b""),
    ]


async def test_a_client_of_another_version_learns_which_side_to_upgrade() -> None:
    ear = Ear()
    await handle_command(ClientContext(FakeRequestHandler(), ME), b"!99\x1fsomething new", ear)
    assert "daemon is older" in ear.frames[1][2].decode()
    assert ear.frames[-1][:2] == (b"x", 69)


async def test_a_malformed_command_line_is_refused() -> None:
    ear = Ear()
    await handle_command(ClientContext(FakeRequestHandler(), ME), b"!2\x1fshort", ear)
    assert ear.frames[-1][:2] == (b"x", 2)


async def test_a_failure_behind_a_face_becomes_a_message_and_a_status() -> None:
    ear = Ear()
    await handle_command(
        ClientContext(FakeRequestHandler(), ME),
        command_protocol.encode_request(command_protocol.CommandRequest(("boom",))),
        ear,
    )
    assert b"visor: the request failed: ZeroDivisionError" in ear.frames[-2][2]
    assert ear.frames[-1][:2] == (b"x", 70)


async def test_a_stream_tells_its_items_and_then_how_many_there_were() -> None:
    *items, end = await ask("watch_numbers", to="s", count=3)
    assert [(item.method, item.params) for item in items] == [
        ("item", jsonrpc.StreamItem("s", number)) for number in range(3)
    ]
    assert (end.id, end.result) == ("s", {"items": 3})


async def test_an_unknown_method_comes_back_with_our_code_and_hint() -> None:
    (answer,) = await ask("ecko")
    assert answer.error == jsonrpc.RpcError(
        jsonrpc.METHOD_NOT_FOUND,
        "there is no ecko",
        jsonrpc.RpcErrorData("unknown_command", "Did you mean echo?", {"nearest": ["echo"]}, 2),
    )


@pytest.mark.parametrize(
    ("method", "number", "code"), [("missing", -32000, "pane_not_found"), ("boom", -32603, "internal")]
)
async def test_an_error_response_has_its_code(method: str, number: int, code: str) -> None:
    (answer,) = await ask(method)
    assert answer.error is not None
    assert answer.error.data is not None
    assert (answer.error.code, answer.error.data.code) == (number, code)
    assert "secret details" not in answer.error.message


async def test_a_notification_is_done_and_not_answered() -> None:
    ear = Ear()
    await handle_rpc(ClientContext(FakeRequestHandler(), ME), jsonrpc.RpcRequest("missing"), ear)
    assert ear.data == b""


async def test_hello_tells_version_protocol_and_pid() -> None:
    (answer,) = await ask("hello", protocol=command_protocol.PROTOCOL_VERSION)
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
async def test_hello_in_another_protocol_is_refused(protocol: object, code: str) -> None:
    (answer,) = await ask("hello", protocol=protocol)
    assert answer.error is not None
    assert answer.error.data is not None
    assert answer.error.data.code == code


async def test_shutdown_is_answered_and_begins_the_stop() -> None:
    desk, ear = FakeRequestHandler(), Ear()
    await handle_rpc(ClientContext(desk, ME), jsonrpc.RpcRequest("shutdown", {"keep_recorder": True}, 1), ear)
    assert ear.answers[0].result == {"stopping": True, "pid": 4242}
    assert (desk.stopped.is_set(), desk.keeps_recorder) == (True, True)


async def test_an_unencodable_result_is_an_internal_error() -> None:
    class Odd(FakeRequestHandler):
        async def call_operation(self, _name: str, _params: dict[str, object], _who: PeerProcess) -> object:
            return object()

    ear = Ear()
    await handle_rpc(ClientContext(Odd(), ME), jsonrpc.RpcRequest("echo", {}, 1), ear)
    assert ear.answers[0].error is not None

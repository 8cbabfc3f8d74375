"""Any bytes on the daemon's socket, and any bytes from it: an answer or a clear refusal; the next client is served."""

import asyncio
import tempfile

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.daemon.server.connection import ConnectionLimits
from termvisor.errors import Unavailable
from termvisor.protocol import command_protocol, jsonrpc
from tests.fuzz.example_count import build_settings
from tests.fuzz.terminal_bytes import cuts, split_chunks
from tests.unit.daemon.fake_request_handler import FakeRequestHandler, RawClient, connect_client, run_socket_server

LIMITS = ConnectionLimits(max_line_bytes=4096, max_in_flight=4, stall_timeout_s=5.0)
JSON = [
    *(
        b"{}",
        b"[]",
        b"null",
        b"1",
        b'"x"',
        b"{",
        b"}",
        b"\xff",
        b"",
        b" ",
        b"[" * 300,
        b'{"a":' * 300,
        b'{"id":1}',
        b"!",
    ),
    *(b'{"method":"echo"}', b'{"method":"echo","id":[]}', b'{"method":"echo","id":1e999}', b'{"method":1,"id":2}'),
    *(
        b'{"method":"echo","id":3,"params":[]}',
        b'{"method":"boom","id":4}',
        b'{"method":"","id":5}',
        b"!1\x1f",
        b"!2",
        b"!99",
    ),
    *(b'{"method":"hello","id":6,"params":{"protocol":"x"}}', b'{"method":"hello","id":7,"params":{"protocol":9}}'),
    *(
        b'{"method":"cancel"}',
        b'{"method":"cancel","params":{"id":{}}}',
        b'{"method":"watch_numbers","id":8}',
        b"x" * 5000,
    ),
    *(b'{"method":"_echo","id":9}', b'{"jsonrpc":"1.0","method":"echo","id":10}', b'{"method":"\\ud800","id":11}'),
    *(
        b"!2\x1f\x1f0\x1f80\x1f0\x1f0\x1f/\x1fecho",
        b"!2\x1f\x1f0\x1f" + b"9" * 99 + b"\x1f0\x1f0\x1f/\x1fecho",
        b"!2\x1f\x1f0\x1f-1\x1f\x1f\x1f",
    ),
    *(
        "!2\x1f\x1f0\x1f²\x1f0\x1f0\x1f/\x1fecho".encode(),
        b"!\xb2\x1f",
        b"!2\x1f=\xff\x1f\xff\x1f\xff\x1f\xff\x1f\xff\x1f\xff",
        b"\x00",
    ),
]
talk = st.lists(st.sampled_from(JSON) | st.binary(max_size=12), max_size=8).map(
    lambda said: b"".join(line + b"\n" for line in said)
)


async def answers(path: str, portions: list[bytes]) -> bytes:
    async with connect_client(path) as one:
        for portion in portions:
            one.send(portion)
            await asyncio.sleep(0)
        one.writer.write_eof()
        try:
            async with asyncio.timeout(10):
                return await one.read_to_end()
        except ConnectionError:
            return b""


def check(heard: bytes) -> None:
    """JSON-RPC answers line by line, then at most one answer of the face protocol."""
    while heard and not heard.startswith(b"a "):
        line, newline, heard = heard.partition(b"\n")
        assert newline
        assert msgspec.json.decode(line)["jsonrpc"] == "2.0"
    frames = command_protocol.FrameDecoder().feed(heard)
    assert [kind for kind, _, _ in frames][-1:] in ([], [b"x"])


@build_settings(60)
@given(st.lists(st.tuples(talk | st.binary(max_size=60), cuts), min_size=1, max_size=4))
@example([(line + b"\n", []) for line in JSON])
def test_whatever_a_client_sends_is_answered_and_harms_nobody_else(said):
    async def law() -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            desk = FakeRequestHandler()
            async with run_socket_server(f"{folder}/d", desk, LIMITS), connect_client(f"{folder}/d") as other:
                for data, where in said:
                    check(await answers(f"{folder}/d", split_chunks(data, where)))
                    assert (await polite(other))["result"] == {"still": "here"}
            assert not desk.stopped.is_set()

    asyncio.run(law())


async def polite(one: RawClient) -> dict:
    return await one.call("echo", request_id=1, still="here")


@build_settings(200)
@given(st.binary(max_size=80) | st.sampled_from(JSON))
def test_any_request_line_is_a_request_or_malformed(line):
    assert isinstance(jsonrpc.parse_request(line), (jsonrpc.RpcRequest, jsonrpc.RpcResponse))
    try:
        assert command_protocol.parse_version(line) >= 0
        assert 0 <= command_protocol.decode_request(line).terminal.width <= 10_000
    except command_protocol.MalformedCommand as refused:
        assert str(refused)


@build_settings(200)
@given(st.binary(max_size=80) | st.sampled_from(JSON))
def test_any_answer_line_is_an_answer_or_says_to_restart(line):
    try:
        assert isinstance(jsonrpc.parse_incoming(line), jsonrpc.IncomingMessage)
    except Unavailable as refused:
        assert "visor daemon restart" in refused.hint


pieces = st.sampled_from(
    [
        b"a 1\n",
        b"o 3\nabc",
        b"o 0\n",
        b"x 0\n",
        b"o ",
        b"9" * 30,
        b"\n",
        b"x -1\n",
        b"oo 1\n",
        b"o 99999999999\n",
        b"o \xb2\n",
        b"o " + b"0" * 22,
        b"3\nabc",
    ]
)


@build_settings(200)
@given(st.lists(pieces | st.binary(max_size=5), max_size=8).map(b"".join), cuts)
@example(b"o " + b"0" * 26 + b"3\nabc", [0.8])
@example(b"o " + b"9" * 5000 + b"\n", [])
def test_any_frames_are_understood_the_same_however_they_are_cut(data, where):
    assert understood(split_chunks(data, where)) == understood([data])


def understood(portions: list[bytes]) -> list[tuple[bytes, int, bytes]] | None:
    """The frames, or None where nonsense came: then the client hangs up."""
    frames = command_protocol.FrameDecoder()
    try:
        return [frame for portion in portions for frame in frames.feed(portion)]
    except command_protocol.MalformedCommand:
        return None

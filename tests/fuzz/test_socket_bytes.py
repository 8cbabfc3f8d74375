"""Any bytes to and from the daemon's socket: a response or a clear error, and other clients are still served."""

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
requests = st.lists(st.sampled_from(JSON) | st.binary(max_size=12), max_size=8).map(
    lambda lines: b"".join(line + b"\n" for line in lines)
)


async def send_chunks(path: str, chunks: list[bytes]) -> bytes:
    async with connect_client(path) as client:
        for chunk in chunks:
            client.send(chunk)
            await asyncio.sleep(0)
        client.writer.write_eof()
        try:
            async with asyncio.timeout(10):
                return await client.read_to_end()
        except ConnectionError:
            return b""


def check_response(response: bytes) -> None:
    """Check for JSON-RPC responses line by line, then at most one response of the command protocol."""
    while response and not response.startswith(b"a "):
        line, newline, response = response.partition(b"\n")
        assert newline
        assert msgspec.json.decode(line)["jsonrpc"] == "2.0"
    frames = command_protocol.FrameDecoder().feed(response)
    assert [kind for kind, _, _ in frames][-1:] in ([], [b"x"])


@build_settings(60)
@given(st.lists(st.tuples(requests | st.binary(max_size=60), cuts), min_size=1, max_size=4))
@example([(line + b"\n", []) for line in JSON])
def test_any_client_bytes_are_answered_and_do_not_affect_other_clients(exchanges):
    async def run() -> None:
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            handler = FakeRequestHandler()
            async with run_socket_server(f"{folder}/d", handler, LIMITS), connect_client(f"{folder}/d") as other:
                for data, cut_fractions in exchanges:
                    check_response(await send_chunks(f"{folder}/d", split_chunks(data, cut_fractions)))
                    assert (await call_echo(other))["result"] == {"still": "here"}
            assert not handler.stopped.is_set()

    asyncio.run(run())


async def call_echo(client: RawClient) -> dict:
    return await client.call("echo", request_id=1, still="here")


@build_settings(200)
@given(st.binary(max_size=80) | st.sampled_from(JSON))
def test_any_request_line_is_parsed_or_refused_as_malformed(line):
    assert isinstance(jsonrpc.parse_request(line), (jsonrpc.RpcRequest, jsonrpc.RpcResponse))
    try:
        assert command_protocol.parse_version(line) >= 0
        assert 0 <= command_protocol.decode_request(line).terminal.width <= 10_000
    except command_protocol.MalformedCommand as error:
        assert str(error)


@build_settings(200)
@given(st.binary(max_size=80) | st.sampled_from(JSON))
def test_any_response_line_is_parsed_or_refused_with_a_restart_hint(line):
    try:
        assert isinstance(jsonrpc.parse_incoming(line), jsonrpc.IncomingMessage)
    except Unavailable as error:
        assert "visor daemon restart" in error.hint


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
def test_frames_decode_the_same_for_any_chunk_boundaries(data, cut_fractions):
    assert decode_frames(split_chunks(data, cut_fractions)) == decode_frames([data])


def decode_frames(chunks: list[bytes]) -> list[tuple[bytes, int, bytes]] | None:
    """Return the frames, or None for malformed data, on which the client disconnects."""
    frames = command_protocol.FrameDecoder()
    try:
        return [frame for chunk in chunks for frame in frames.feed(chunk)]
    except command_protocol.MalformedCommand:
        return None

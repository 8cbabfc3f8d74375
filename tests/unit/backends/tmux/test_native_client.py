"""The native client against servers that do not behave: other versions, garbage, and full queues."""

import asyncio
import os
import struct

import pytest

from termvisor.backends.tmux.commands import TmuxCommand
from termvisor.backends.tmux.native_client import NativeClient, TmuxProtocolError
from termvisor.errors import MuxError
from termvisor.system.procfs import read_start_time
from tests.unit.wait_until import wait_until

ECHO = TmuxCommand("display-message", "-p", "hello")
EXIT, VERSION, WRITE, WRITE_OPEN = 203, 12, 304, 303


def pack(kind: int, data: bytes = b"", *, version: int = 8, length: int | None = None) -> bytes:
    return struct.pack("=IIII", kind, 16 + len(data) if length is None else length, version, 1) + data


@pytest.fixture
async def answer_with(folder):
    """Return a function that starts a fake server, which sends these bytes and closes, and returns a client of it."""
    servers = []

    async def start(answer: bytes) -> NativeClient:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1 << 16)
            writer.write(answer)
            writer.close()

        servers.append(await asyncio.start_unix_server(serve, f"{folder}/fake"))
        return NativeClient(f"{folder}/fake")

    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (pack(VERSION, version=9), "version 9"),
        (pack(EXIT, version=7), "version 7"),
        (pack(VERSION), "version 8"),
        (pack(999), "unknown message"),
        (pack(WRITE, struct.pack("=i", 7) + b"text"), "unknown stream"),
        (pack(WRITE, b"xy"), "too short"),
        (pack(EXIT, length=3), "3 bytes"),
        (pack(EXIT, length=20_000), "20000 bytes"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "version"),
    ],
)
async def test_an_unexpected_answer_is_a_protocol_error(answer_with, answer, reason):
    with pytest.raises(TmuxProtocolError, match=reason):
        await (await answer_with(answer)).request(ECHO)


@pytest.mark.parametrize("answer", [b"", pack(WRITE_OPEN, bytes(12))[:9], pack(WRITE, struct.pack("=i", 1) + b"half")])
async def test_a_connection_that_ends_early_is_an_error_but_no_protocol_error(answer_with, answer):
    with pytest.raises(MuxError) as raised:
        await (await answer_with(answer)).request(ECHO)
    assert type(raised.value) is MuxError


async def test_an_answer_may_arrive_in_any_portions(answer_with):
    text = b"".join(pack(WRITE, struct.pack("=i", 1) + part) for part in (b"hel", b"lo\n", b"you\n"))
    reply = await (await answer_with(text + pack(EXIT, struct.pack("=i", 0)))).request(ECHO)
    assert reply.lines == (b"hello", b"you")


async def test_the_last_words_of_a_server_are_an_error(answer_with):
    reply = await (await answer_with(pack(EXIT, struct.pack("=i", 1) + b"server exited\0"))).request(ECHO)
    assert (reply.lines, reply.error) == ((), "server exited")


async def test_an_empty_request_is_refused(native):
    with pytest.raises(ValueError, match="at least one command"):
        await native.request()


async def test_hundreds_of_requests_at_once_are_all_answered(pane, native):
    requests = (native.request(TmuxCommand("display-message", "-p", f"{number}")) for number in range(300))
    replies = await asyncio.gather(*requests)
    assert [reply.lines for reply in replies] == [(b"%d" % number,) for number in range(300)]


def count_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_every_connection_is_closed_also_after_errors(pane, native):
    await native.request(ECHO)
    before = count_descriptors()
    await asyncio.gather(*(native.request(ECHO) for _ in range(20)))
    cancelled = asyncio.ensure_future(native.request(ECHO))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    assert count_descriptors() == before


async def test_delayed_disconnects_are_closed_together(tmux, pane, native):
    before = count_descriptors()
    native.delays_disconnects = True
    for _ in range(10):
        await native.request(ECHO)
    assert count_descriptors() == before + 10
    assert tmux("list-clients") == ""
    native.close()
    assert count_descriptors() == before


async def test_kept_connections_are_limited(pane, native):
    before = count_descriptors()
    native.delays_disconnects = True
    for _ in range(100):
        await native.request(ECHO)
    assert count_descriptors() < before + 64


async def test_a_server_with_kept_connections_exits_once_they_are_closed(tmux, pane, native):
    pid = int(tmux("display-message", "-p", "#{pid}"))
    native.delays_disconnects = True
    await native.request(ECHO)
    tmux("kill-session", "-t", "=work")
    native.close()
    await wait_until(lambda: read_start_time(pid) == 0)


async def test_hostile_text_is_only_text(tmux, native):
    hostile = r"printf '\033]2;%%end 1 2 3\007%%begin\n\000\001\377 tv00 refused %%0\n'; exec sleep 1000"
    mux_id = tmux.start_session(command=hostile)
    await wait_until(lambda: "refused" in tmux("capture-pane", "-p", "-t", mux_id))
    reply = await native.request(ECHO, TmuxCommand("capture-pane", "-p", "-t", mux_id))
    assert reply.lines[:2] == (b"hello", b"%begin")
    assert b"tv00 refused %0" in reply.lines[2]
    assert reply.error == ""

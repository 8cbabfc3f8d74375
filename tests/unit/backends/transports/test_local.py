import asyncio
import os

import pytest

from termvisor.backends.transports.local import LocalTransport
from termvisor.errors import NotFound, Unavailable


@pytest.fixture
async def transport():
    opened = LocalTransport()
    yield opened
    await opened.close()


async def test_a_command_gets_its_input_and_its_answer_is_complete(transport):
    result = await transport.run(["sh", "-c", "cat; echo problem >&2; exit 7"], stdin=b"\xff\0input")
    assert (result.status, result.out, result.errors, result.failure) == (7, b"\xff\0input", b"problem\n", "")


async def test_a_command_that_does_not_end_or_start_is_a_failure(transport):
    assert (await transport.run(["sleep", "60"], timeout_s=0.05)).failure == "timed_out"
    assert (await transport.run(["no-such-program"])).failure == "missing"
    assert (await transport.run(["head", "-c", "3000000", "/dev/zero"])).failure == "too_much"


async def test_a_channel_carries_bytes_both_ways_until_the_program_ends(transport):
    channel = await transport.open_channel(["cat"])
    sent, received = os.urandom(1 << 20), bytearray()

    async def receive() -> None:
        while len(received) < len(sent):
            received.extend(await channel.read())

    await asyncio.gather(channel.write(sent), receive())
    assert bytes(received) == sent
    await channel.close()
    assert await channel.read() == b""
    with pytest.raises(Unavailable):
        await channel.write(b"more")


async def test_files_are_read_from_an_offset_and_replaced_in_one_step(transport, tmp_path):
    path, missing = str(tmp_path / "file"), str(tmp_path / "none")
    await transport.write_file(path, b"0123456789", 0o640)
    assert await transport.read_file(path, 3, 4) == b"3456"
    status, none, folder = await transport.read_statuses([path, missing, str(tmp_path)])
    assert (status.size, os.stat(path).st_mode & 0o777, none, folder) == (10, 0o640, None, None)
    with pytest.raises(NotFound):
        await transport.read_file(missing, 0, 1)
    with pytest.raises(Unavailable):
        await transport.write_file(f"{missing}/file", b"")

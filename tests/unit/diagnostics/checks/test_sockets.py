import os
import socket

import pytest

from termvisor.diagnostics.checks.sockets import SocketsArePrivate
from tests.unit.diagnostics.checks.conftest import MemorySight


@pytest.fixture
def listening(sight: MemorySight) -> MemorySight:
    os.makedirs(sight.places.runtime_dir, mode=0o700)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(sight.places.daemon_socket)
    os.chmod(sight.places.daemon_socket, 0o600)
    return sight


async def test_private_sockets_are_fine(listening: MemorySight) -> None:
    assert (await SocketsArePrivate().look(listening)).status == "ok"


async def test_a_folder_that_others_may_enter_fails(listening: MemorySight) -> None:
    os.chmod(listening.places.runtime_dir, 0o755)
    finding = await SocketsArePrivate().look(listening)
    assert (finding.status, "0755, not 0700" in finding.message) == ("fail", True)


async def test_a_socket_that_others_may_use_fails(listening: MemorySight) -> None:
    os.chmod(listening.places.daemon_socket, 0o666)
    assert "0666, not 0600" in (await SocketsArePrivate().look(listening)).message


async def test_what_belongs_to_somebody_else_fails(listening: MemorySight, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert "belongs to user" in (await SocketsArePrivate().look(listening)).message

import os
import socket

import pytest

from termvisor.diagnostics.checks.sockets import SocketPermissionsCheck
from tests.unit.diagnostics.checks.conftest import FakeCheckContext


@pytest.fixture
def listening(context: FakeCheckContext) -> FakeCheckContext:
    os.makedirs(context.paths.runtime_dir, mode=0o700)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(context.paths.daemon_socket)
    os.chmod(context.paths.daemon_socket, 0o600)
    return context


async def test_private_sockets_are_fine(listening: FakeCheckContext) -> None:
    assert (await SocketPermissionsCheck().run(listening)).status == "ok"


async def test_a_folder_that_others_may_enter_fails(listening: FakeCheckContext) -> None:
    os.chmod(listening.paths.runtime_dir, 0o755)
    finding = await SocketPermissionsCheck().run(listening)
    assert (finding.status, "0755, not 0700" in finding.message) == ("fail", True)


async def test_a_socket_that_others_may_use_fails(listening: FakeCheckContext) -> None:
    os.chmod(listening.paths.daemon_socket, 0o666)
    assert "0666, not 0600" in (await SocketPermissionsCheck().run(listening)).message


async def test_a_file_of_another_user_fails(listening: FakeCheckContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert "belongs to user" in (await SocketPermissionsCheck().run(listening)).message

"""Connecting only to a daemon of this user."""

import os
import socket
from pathlib import Path

import pytest

from termvisor.protocol.connect import connect_socket


def test_a_missing_or_dead_socket_gives_none(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    assert connect_socket(path) is None
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    assert connect_socket(path) is None


def test_a_process_of_another_user_is_not_talked_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "s")
    somebody_else = os.getuid() + 1
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        monkeypatch.setattr(os, "getuid", lambda: somebody_else)
        with pytest.raises(PermissionError, match="another user"):
            connect_socket(path)

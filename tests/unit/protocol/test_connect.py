"""Reaching a daemon, and only our own."""

import os
import socket
from pathlib import Path

import pytest

from termvisor.protocol.connect import connect_socket


def test_nobody_listens_where_there_is_no_socket_or_a_dead_one(tmp_path: Path) -> None:
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

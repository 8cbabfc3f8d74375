"""Connecting only to a daemon of this user, and splitting a byte stream into lines."""

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.protocol import unix_socket
from termvisor.protocol.unix_socket import LineBuffer, LineTooLong, connect_socket


def test_a_missing_or_dead_socket_gives_none(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    assert connect_socket(path) is None
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    assert connect_socket(path) is None


def test_a_socket_of_another_user_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "s")
    other_user = os.getuid() + 1
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        monkeypatch.setattr(os, "getuid", lambda: other_user)
        with pytest.raises(PermissionError, match="another user"):
            connect_socket(path)


def test_the_peer_has_user_and_process_ids() -> None:
    ours, theirs = socket.socketpair()
    credentials = ours.getsockopt(*unix_socket.PEER_CREDENTIALS_OPTION)
    assert (unix_socket.parse_uid(credentials), unix_socket.parse_pid(credentials)) == (
        os.getuid(),
        os.getpid(),
    )
    ours.close()
    theirs.close()


def test_a_half_closed_peer_is_still_connected() -> None:
    ours, theirs = socket.socketpair()
    assert not unix_socket.is_peer_gone(ours.fileno())
    theirs.shutdown(socket.SHUT_WR)
    assert not unix_socket.is_peer_gone(ours.fileno())
    theirs.close()
    assert unix_socket.is_peer_gone(ours.fileno())
    ours.close()


@given(st.lists(st.binary()), st.integers(1, 9))
def test_lines_are_complete_at_any_chunk_border(chunks: list[bytes], step: int) -> None:
    data = b"\n".join(chunks)
    lines = LineBuffer()
    found = [line for start in range(0, len(data), step) for line in lines.feed(data[start : start + step])]
    assert [*found, lines.get_rest()] == data.split(b"\n")


def test_a_line_above_the_limit_is_rejected_before_its_end() -> None:
    lines = LineBuffer(limit=10)
    assert lines.feed(b"x" * 10) == []
    with pytest.raises(LineTooLong):
        lines.feed(b"x")


def test_a_long_line_among_short_ones_is_rejected() -> None:
    with pytest.raises(LineTooLong):
        LineBuffer(limit=10).feed(b"short\n" + b"x" * 11 + b"\nshort\n")

"""The blocking connection against daemons that misbehave."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.client import connection
from termvisor.errors import Unavailable, Unsupported
from termvisor.protocol import command_protocol, jsonrpc

HELLO = jsonrpc.DaemonHello("9.9.9", command_protocol.PROTOCOL_VERSION, 1)


@contextmanager
def run_scripted_daemon(folder: str, *answers: bytes) -> Iterator[str]:
    """Accept one client, answer each line with the next answer, then close the connection."""
    path = f"{folder}/s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        thread = threading.Thread(target=_answer, args=(server, answers))
        thread.start()
        yield path
        thread.join()


def _answer(server: socket.socket, answers: tuple[bytes, ...]) -> None:
    peer, _ = server.accept()
    with peer, peer.makefile("rb") as lines:
        for answer in answers:
            lines.readline()
            peer.sendall(answer)


def encode_result(to: int, result: object) -> bytes:
    return jsonrpc.encode_message(jsonrpc.RpcResponse(to, result=result))


def encode_item(to: int, what: object) -> bytes:
    return jsonrpc.encode_message(jsonrpc.StreamNotification(jsonrpc.StreamItem(to, what)))


def test_items_and_result_are_distinguished(folder: str) -> None:
    with run_scripted_daemon(
        folder, encode_result(1, HELLO), encode_item(2, "a") + encode_item(2, "b") + encode_result(2, {})
    ) as path:
        one = connection.connect_if_running(path)
        assert one is not None
        assert list(one.stream_items("watch_letters", {})) == ["a", "b"]
        one.close()


def test_a_closed_connection_is_an_error(folder: str) -> None:
    with run_scripted_daemon(folder, encode_result(1, HELLO), b'{"half') as path:
        one = connection.connect_if_running(path)
        assert one is not None
        with pytest.raises(Unavailable, match="closed the connection"):
            one.call("health", {})
        one.close()


def test_a_daemon_of_another_protocol_is_rejected(folder: str) -> None:
    older = jsonrpc.DaemonHello("0.0.1", command_protocol.PROTOCOL_VERSION - 1, 1)
    with (
        run_scripted_daemon(folder, encode_result(1, older)) as path,
        pytest.raises(Unsupported, match="daemon is older"),
    ):
        connection.connect_if_running(path)


def test_a_silent_daemon_times_out(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HELLO_TIMEOUT_S", 0.05)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        with pytest.raises(Unavailable, match="did not answer"):
            connection.connect_if_running(f"{folder}/s")


def test_without_a_daemon_there_is_no_connection(folder: str) -> None:
    assert connection.connect_if_running(f"{folder}/s") is None

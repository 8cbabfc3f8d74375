"""Accept and reject connections."""

import os
import socket

import pytest

from termvisor.recorder import acceptor as acceptor_module
from termvisor.recorder.acceptor import ConnectionAcceptor, open_server_socket
from termvisor.recorder.poller import Poller
from termvisor.recorder.seqpacket import connect_socket


@pytest.fixture
def acceptor(home):
    acceptor = ConnectionAcceptor(open_server_socket(home.socket), Poller())
    yield acceptor
    for fd in list(acceptor.pending):
        acceptor.close_connection(fd)
    acceptor.close(home.socket)


@pytest.fixture
def connection(home, acceptor):
    connection = connect_socket(home.socket)
    acceptor.accept_connections()
    yield connection
    connection.close()


def test_a_connection_is_pending_until_its_first_message(acceptor, connection):
    [fd] = acceptor.pending
    acceptor.close_expired()
    assert list(acceptor.pending) == [fd]
    connection.send(b"hold 1/1")
    channel = acceptor.release_connection(fd)
    assert (channel.receive()[0], acceptor.pending, acceptor.compute_timeout()) == ([b"hold 1/1"], {}, None)
    channel.close()


def test_a_silent_connection_is_closed_after_five_seconds(acceptor, connection, monkeypatch):
    now = acceptor_module.monotonic()
    assert 4 < acceptor.compute_timeout() < 6
    monkeypatch.setattr(acceptor_module, "monotonic", lambda: now + 6)
    acceptor.close_expired()
    assert (acceptor.pending, connection.recv(1)) == ({}, b"")


def test_a_connection_of_another_user_is_closed_at_once(home, acceptor, monkeypatch):
    monkeypatch.setattr(acceptor_module, "get_peer_uid", lambda connection: os.getuid() + 1)
    stranger = connect_socket(home.socket)
    acceptor.accept_connections()
    assert (acceptor.pending, stranger.recv(1)) == ({}, b"")
    stranger.close()


def test_a_path_that_is_answered_is_left_alone(home, acceptor):
    inode = os.stat(home.socket).st_ino
    assert open_server_socket(home.socket) is None
    assert os.stat(home.socket).st_ino == inode


def test_the_socket_of_a_dead_recorder_is_replaced(home):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
        dead.bind(home.socket)
    server = open_server_socket(home.socket)
    connect_socket(home.socket).close()
    server.close()


def test_when_it_closes_its_name_is_gone_too(home):
    acceptor = ConnectionAcceptor(open_server_socket(home.socket), Poller())
    acceptor.close(home.socket)
    assert not os.path.exists(home.socket)

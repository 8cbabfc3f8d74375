"""Who is let in, and who is sent away."""

import os
import socket

import pytest

from termvisor.recorder import acceptor
from termvisor.recorder.acceptor import ConnectionAcceptor, open_server_socket
from termvisor.recorder.poller import Poller
from termvisor.recorder.seqpacket import connect_socket


@pytest.fixture
def desk(home):
    desk = ConnectionAcceptor(open_server_socket(home.socket), Poller())
    yield desk
    for fd in list(desk.pending):
        desk.close_connection(fd)
    desk.close(home.socket)


@pytest.fixture
def visitor(home, desk):
    connection = connect_socket(home.socket)
    desk.accept_connections()
    yield connection
    connection.close()


def test_a_visitor_waits_until_it_speaks(desk, visitor):
    [fd] = desk.pending
    desk.close_expired()
    assert list(desk.pending) == [fd]
    visitor.send(b"hold 1/1")
    channel = desk.release_connection(fd)
    assert (channel.receive()[0], desk.pending, desk.compute_timeout()) == ([b"hold 1/1"], {}, None)
    channel.close()


def test_a_silent_visitor_is_sent_away_after_five_seconds(desk, visitor, monkeypatch):
    now = acceptor.monotonic()
    assert 4 < desk.compute_timeout() < 6
    monkeypatch.setattr(acceptor, "monotonic", lambda: now + 6)
    desk.close_expired()
    assert (desk.pending, visitor.recv(1)) == ({}, b"")


def test_a_stranger_is_sent_away_at_once(home, desk, monkeypatch):
    monkeypatch.setattr(acceptor, "get_peer_uid", lambda connection: os.getuid() + 1)
    stranger = connect_socket(home.socket)
    desk.accept_connections()
    assert (desk.pending, stranger.recv(1)) == ({}, b"")
    stranger.close()


def test_a_path_that_is_answered_is_left_alone(home, desk):
    inode = os.stat(home.socket).st_ino
    assert open_server_socket(home.socket) is None
    assert os.stat(home.socket).st_ino == inode


def test_a_path_that_a_dead_one_left_is_taken_over(home):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
        dead.bind(home.socket)
    server = open_server_socket(home.socket)
    connect_socket(home.socket).close()
    server.close()


def test_when_it_closes_its_name_is_gone_too(home):
    desk = ConnectionAcceptor(open_server_socket(home.socket), Poller())
    desk.close(home.socket)
    assert not os.path.exists(home.socket)

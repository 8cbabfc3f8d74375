"""Who is let in, and who is sent away."""

import os
import socket

import pytest

from termvisor.recorder import acceptor as reception
from termvisor.recorder.acceptor import Reception, open_server
from termvisor.recorder.poller import Poller
from termvisor.recorder.seqpacket import connect


@pytest.fixture
def desk(home):
    desk = Reception(open_server(home.socket), Poller())
    yield desk
    for fd in list(desk.waiting):
        desk.dismiss(fd)
    desk.close(home.socket)


@pytest.fixture
def visitor(home, desk):
    connection = connect(home.socket)
    desk.accept()
    yield connection
    connection.close()


def test_a_visitor_waits_until_it_speaks(desk, visitor):
    [fd] = desk.waiting
    desk.expire()
    assert list(desk.waiting) == [fd]
    visitor.send(b"hold 1/1")
    channel = desk.release(fd)
    assert (channel.receive()[0], desk.waiting, desk.patience()) == ([b"hold 1/1"], {}, None)
    channel.close()


def test_a_silent_visitor_is_sent_away_after_five_seconds(desk, visitor, monkeypatch):
    now = reception.monotonic()
    assert 4 < desk.patience() < 6
    monkeypatch.setattr(reception, "monotonic", lambda: now + 6)
    desk.expire()
    assert (desk.waiting, visitor.recv(1)) == ({}, b"")


def test_a_stranger_is_sent_away_at_once(home, desk, monkeypatch):
    monkeypatch.setattr(reception, "peer_uid", lambda connection: os.getuid() + 1)
    stranger = connect(home.socket)
    desk.accept()
    assert (desk.waiting, stranger.recv(1)) == ({}, b"")
    stranger.close()


def test_a_path_that_is_answered_is_left_alone(home, desk):
    inode = os.stat(home.socket).st_ino
    assert open_server(home.socket) is None
    assert os.stat(home.socket).st_ino == inode


def test_a_path_that_a_dead_one_left_is_taken_over(home):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
        dead.bind(home.socket)
    server = open_server(home.socket)
    connect(home.socket).close()
    server.close()


def test_when_it_closes_its_name_is_gone_too(home):
    desk = Reception(open_server(home.socket), Poller())
    desk.close(home.socket)
    assert not os.path.exists(home.socket)

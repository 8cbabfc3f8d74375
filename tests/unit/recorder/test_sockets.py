"""Lines and descriptors over a real socket pair."""

import _socket
import os
import socket

import pytest

from termvisor.recorder import sockets as acceptor_module
from termvisor.recorder.sockets import (
    MAX_MESSAGE_BYTES,
    SOCKET_KIND,
    ConnectionAcceptor,
    Poller,
    SeqpacketChannel,
    connect_socket,
    get_peer_uid,
    open_server_socket,
)


@pytest.fixture
def ends():
    """Return a channel and the other end as a plain socket."""
    own_end, other = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    channel = SeqpacketChannel(_socket.socket(fileno=own_end.detach()))
    yield channel, other
    channel.close()
    other.close()


def test_a_message_is_one_or_more_lines(ends):
    channel, other = ends
    other.send(b"grew 1 2\ngrew 3 4\n")
    other.send(b"without an end of line")
    assert channel.receive() == ([b"grew 1 2", b"grew 3 4"], [])
    assert channel.receive() == ([b"without an end of line"], [])


def test_no_message_is_not_the_end_of_the_connection(ends):
    channel, other = ends
    with pytest.raises(BlockingIOError):
        channel.receive()
    other.close()
    with pytest.raises(EOFError):
        channel.receive()


def test_descriptors_come_with_the_message_and_are_not_inherited(ends):
    channel, other = ends
    reader, writer = os.pipe()
    socket.send_fds(other, [b"hold 1/2\n"], [reader])
    lines, [fd] = channel.receive()
    os.write(writer, b"x")
    assert (lines, os.read(fd, 9), os.get_inheritable(fd)) == ([b"hold 1/2"], b"x", False)
    for number in (fd, reader, writer):
        os.close(number)


def test_a_full_connection_accepts_a_message_later(ends):
    channel, other = ends
    sent = 0
    while channel.send(b"%d\n" % sent):
        sent += 1
    received = [other.recv(100) for _ in range(sent)]
    assert received == [b"%d\n" % n for n in range(sent)]
    assert channel.send(b"again\n")
    assert other.recv(100) == b"again\n"


def test_sending_to_a_closed_socket_is_an_error(ends):
    channel, other = ends
    other.close()
    with pytest.raises(OSError):
        channel.send(b"x\n")


def test_a_too_long_message_is_truncated(ends):
    channel, other = ends
    other.send(b"x" * 20_000)
    other.send(b"y")
    assert channel.receive() == ([b"x" * MAX_MESSAGE_BYTES], [])
    assert channel.receive() == ([b"y"], [])


def test_the_uid_of_the_peer_is_known():
    own_end, other = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    with own_end, other:
        assert get_peer_uid(own_end) == os.getuid()


def test_a_path_without_a_socket_is_not_listening(tmp_path):
    with pytest.raises(FileNotFoundError):
        connect_socket(f"{tmp_path}/rec")


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
    foreign = connect_socket(home.socket)
    acceptor.accept_connections()
    assert (acceptor.pending, foreign.recv(1)) == ({}, b"")
    foreign.close()


def test_a_socket_with_a_listener_is_not_replaced(home, acceptor):
    inode = os.stat(home.socket).st_ino
    assert open_server_socket(home.socket) is None
    assert os.stat(home.socket).st_ino == inode


def test_the_socket_of_a_dead_recorder_is_replaced(home):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as dead:
        dead.bind(home.socket)
    server = open_server_socket(home.socket)
    connect_socket(home.socket).close()
    server.close()


def test_closing_removes_the_socket_file(home):
    acceptor = ConnectionAcceptor(open_server_socket(home.socket), Poller())
    acceptor.close(home.socket)
    assert not os.path.exists(home.socket)


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    os.close(reader)
    os.close(writer)


def test_a_pipe_with_bytes_is_reported_until_they_are_read(pipe):
    reader, writer = pipe
    poller = Poller()
    poller.add(reader)
    assert poller.wait(0) == []
    os.write(writer, b"x")
    assert (poller.wait(None), poller.wait(None)) == ([reader], [reader])
    os.read(reader, 1)
    assert poller.wait(0) == []


def test_writability_is_reported_only_while_requested(pipe):
    _, writer = pipe
    poller = Poller()
    poller.add(writer)
    poller.set_write_interest(writer, True)
    assert poller.wait(0) == [writer]
    poller.set_write_interest(writer, False)
    assert poller.wait(0) == []


def test_a_removed_descriptor_is_not_reported(pipe):
    reader, writer = pipe
    poller = Poller()
    poller.add(reader)
    os.write(writer, b"x")
    poller.remove(reader)
    assert poller.wait(0) == []


def test_a_regular_file_cannot_be_polled():
    with open(__file__) as file, pytest.raises(OSError):
        Poller().add(file.fileno())

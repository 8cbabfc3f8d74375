"""Lines and descriptors over a real socket pair."""

import _socket
import os
import socket

import pytest

from termvisor.recorder.seqpacket import MAX_MESSAGE_BYTES, SOCKET_KIND, SeqpacketChannel, connect_socket, get_peer_uid


@pytest.fixture
def ends():
    """Our channel, and the other side as a plain socket."""
    ours, other = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    channel = SeqpacketChannel(_socket.socket(fileno=ours.detach()))
    yield channel, other
    channel.close()
    other.close()


def test_a_message_is_one_or_more_lines(ends):
    channel, other = ends
    other.send(b"grew 1 2\ngrew 3 4\n")
    other.send(b"without an end of line")
    assert channel.receive() == ([b"grew 1 2", b"grew 3 4"], [])
    assert channel.receive() == ([b"without an end of line"], [])


def test_nothing_there_is_not_the_end(ends):
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


def test_a_full_connection_takes_a_message_later(ends):
    channel, other = ends
    sent = 0
    while channel.send(b"%d\n" % sent):
        sent += 1
    heard = [other.recv(100) for _ in range(sent)]
    assert heard == [b"%d\n" % n for n in range(sent)]
    assert channel.send(b"again\n")
    assert other.recv(100) == b"again\n"


def test_sending_to_a_closed_socket_is_an_error(ends):
    channel, other = ends
    other.close()
    with pytest.raises(OSError):
        channel.send(b"x\n")


def test_a_message_that_is_too_long_is_cut(ends):
    channel, other = ends
    other.send(b"x" * 20_000)
    other.send(b"y")
    assert channel.receive() == ([b"x" * MAX_MESSAGE_BYTES], [])
    assert channel.receive() == ([b"y"], [])


def test_the_other_side_has_an_owner():
    ours, other = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    with ours, other:
        assert get_peer_uid(ours) == os.getuid()


def test_a_path_without_a_socket_is_not_listening(tmp_path):
    with pytest.raises(FileNotFoundError):
        connect_socket(f"{tmp_path}/rec")

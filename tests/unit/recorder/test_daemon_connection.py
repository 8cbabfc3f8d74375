"""Report streams to the daemon in order, also to a slow one."""

import _socket
import os
import socket

import pytest

from termvisor.recorder.daemon_connection import DaemonConnection
from termvisor.recorder.pane_streams import PaneStream
from termvisor.recorder.segment_log import FLAG_CAPPED, FLAG_ENDED, SegmentWriter
from termvisor.recorder.sockets import SOCKET_KIND, SeqpacketChannel

HELLO = f"hello 1 {os.getpid()}"


@pytest.fixture
def ends():
    ours, other = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    channel = SeqpacketChannel(_socket.socket(fileno=ours.detach()))
    other.setblocking(False)
    yield channel, other
    channel.close()
    other.close()


def stream(epoch, size=0, closed_by=0):
    made = PaneStream(1, epoch, -1, SegmentWriter("/nowhere", 1, size))
    made.close_flag = closed_by
    return made


def receive_lines(other):
    lines = []
    try:
        while True:
            lines += other.recv(8192).decode().splitlines()
    except BlockingIOError:
        return lines


def test_existing_streams_are_reported_before_changes(ends):
    channel, other = ends
    streams = {1: stream(1, 10), 2: stream(2, 20, FLAG_ENDED), 3: stream(3, 30, FLAG_CAPPED)}
    listener = DaemonConnection(channel, streams)
    streams[4] = stream(4, 5)
    listener.mark_changed(4)
    assert listener.flush()
    assert receive_lines(other) == [
        HELLO, "stream 1/1 10 open", "stream 1/2 20 ended", "stream 1/3 30 capped", "ready", "held 1/4", "grew 4 5",
    ]  # fmt: skip


def test_a_change_is_reported_once_in_its_latest_state(ends):
    channel, other = ends
    streams = {1: stream(1)}
    listener = DaemonConnection(channel, streams)
    listener.flush()
    receive_lines(other)
    for size in (5, 6):
        streams[1].writer.offset = size
        listener.mark_changed(1)
    assert listener.flush()
    assert receive_lines(other) == ["grew 1 6"]
    assert listener.flush()
    assert receive_lines(other) == []


def test_a_stream_that_began_and_ended_unreported_is_reported_completely(ends):
    channel, other = ends
    streams = {}
    listener = DaemonConnection(channel, streams)
    streams[1] = stream(1, 7, FLAG_ENDED)
    listener.mark_changed(1)
    listener.flush()
    assert receive_lines(other) == [HELLO, "ready", "held 1/1", "ended 1/1 7"]


def test_listed_streams_are_no_change_and_forgotten_ones_are_not_reported(ends):
    channel, other = ends
    streams = {1: stream(1, 7, FLAG_ENDED), 2: stream(2, 7, FLAG_ENDED)}
    listener = DaemonConnection(channel, streams)
    listener.mark_changed(1)
    listener.flush()
    assert receive_lines(other)[-2:] == ["stream 1/2 7 ended", "ready"]
    listener.mark_changed(2)
    listener.forget_stream(2)
    assert listener.flush()
    assert receive_lines(other) == []


def test_a_slow_daemon_costs_one_message_and_gets_the_latest_state(ends):
    channel, other = ends
    streams = {epoch: stream(epoch) for epoch in range(1, 201)}
    listener = DaemonConnection(channel, streams)
    is_quick = True
    while is_quick:
        for epoch in streams:
            streams[epoch].writer.offset += 1
            listener.mark_changed(epoch)
        is_quick = listener.flush()
    for each in streams.values():
        each.writer.offset, each.close_flag = 10**6, FLAG_ENDED
        listener.mark_changed(each.epoch)
    assert not listener.flush()
    receive_lines(other)
    assert listener.flush()
    assert set(receive_lines(other)) >= {f"ended 1/{epoch} 1000000" for epoch in streams}


def test_a_listener_that_is_gone_is_an_error(ends):
    channel, other = ends
    other.close()
    with pytest.raises(OSError):
        DaemonConnection(channel, {}).flush()

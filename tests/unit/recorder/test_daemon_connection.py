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
def connection_ends():
    recorder_end, daemon_end = socket.socketpair(socket.AF_UNIX, SOCKET_KIND)
    channel = SeqpacketChannel(_socket.socket(fileno=recorder_end.detach()))
    daemon_end.setblocking(False)
    yield channel, daemon_end
    channel.close()
    daemon_end.close()


def build_stream(epoch, size=0, closed_by=0):
    made = PaneStream(1, epoch, -1, SegmentWriter("/nowhere", 1, size))
    made.close_flag = closed_by
    return made


def receive_lines(daemon_end):
    lines = []
    try:
        while True:
            lines += daemon_end.recv(8192).decode().splitlines()
    except BlockingIOError:
        return lines


def test_existing_streams_are_reported_before_changes(connection_ends):
    channel, daemon_end = connection_ends
    streams = {1: build_stream(1, 10), 2: build_stream(2, 20, FLAG_ENDED), 3: build_stream(3, 30, FLAG_CAPPED)}
    listener = DaemonConnection(channel, streams)
    streams[4] = build_stream(4, 5)
    listener.mark_changed(4)
    assert listener.flush()
    assert receive_lines(daemon_end) == [
        HELLO, "stream 1/1 10 open", "stream 1/2 20 ended", "stream 1/3 30 capped", "ready", "held 1/4", "grew 4 5",
    ]  # fmt: skip


def test_a_change_is_reported_once_in_its_latest_state(connection_ends):
    channel, daemon_end = connection_ends
    streams = {1: build_stream(1)}
    listener = DaemonConnection(channel, streams)
    listener.flush()
    receive_lines(daemon_end)
    for size in (5, 6):
        streams[1].writer.offset = size
        listener.mark_changed(1)
    assert listener.flush()
    assert receive_lines(daemon_end) == ["grew 1 6"]
    assert listener.flush()
    assert receive_lines(daemon_end) == []


def test_a_stream_that_started_and_ended_unreported_is_reported_completely(connection_ends):
    channel, daemon_end = connection_ends
    streams = {}
    listener = DaemonConnection(channel, streams)
    streams[1] = build_stream(1, 7, FLAG_ENDED)
    listener.mark_changed(1)
    listener.flush()
    assert receive_lines(daemon_end) == [HELLO, "ready", "held 1/1", "ended 1/1 7"]


def test_listed_streams_are_not_changes_and_forgotten_ones_are_not_reported(connection_ends):
    channel, daemon_end = connection_ends
    streams = {1: build_stream(1, 7, FLAG_ENDED), 2: build_stream(2, 7, FLAG_ENDED)}
    listener = DaemonConnection(channel, streams)
    listener.mark_changed(1)
    listener.flush()
    assert receive_lines(daemon_end)[-2:] == ["stream 1/2 7 ended", "ready"]
    listener.mark_changed(2)
    listener.forget_stream(2)
    assert listener.flush()
    assert receive_lines(daemon_end) == []


def test_a_slow_daemon_costs_one_message_and_gets_the_latest_state(connection_ends):
    channel, daemon_end = connection_ends
    streams = {epoch: build_stream(epoch) for epoch in range(1, 201)}
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
    receive_lines(daemon_end)
    assert listener.flush()
    assert set(receive_lines(daemon_end)) >= {f"ended 1/{epoch} 1000000" for epoch in streams}


def test_reporting_to_a_closed_daemon_connection_raises(connection_ends):
    channel, daemon_end = connection_ends
    daemon_end.close()
    with pytest.raises(OSError):
        DaemonConnection(channel, {}).flush()

"""Report streams and their changes to the daemon.

Reports are built from the streams when they are sent, so a slow daemon costs one message and a set of epochs. It gets
only the latest state of each stream, so nothing is lost and nothing accumulates.
"""

from __future__ import annotations

import posix

from termvisor.recorder.pane_streams import STATE_NAMES, PaneStream
from termvisor.recorder.sockets import SeqpacketChannel
from termvisor.recorder.startup import PROTOCOL_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STREAMS_PER_MESSAGE = 64


class DaemonConnection:
    def __init__(self, channel: SeqpacketChannel, streams: dict[int, PaneStream]):
        self.channel = channel
        self._streams = streams
        self._announced_epochs = set(streams)
        self._changed_epochs: dict[int, None] = {}
        self._message_iterator = self._generate_messages()
        self._unsent_message = b""

    def mark_changed(self, epoch: int) -> None:
        self._changed_epochs[epoch] = None

    def forget_stream(self, epoch: int) -> None:
        self._announced_epochs.discard(epoch)
        self._changed_epochs.pop(epoch, None)

    def flush(self) -> bool:
        """Send all reports. Return False if the socket is full; call again when it is writable.

        Raises OSError if the daemon is gone.
        """
        while True:
            self._unsent_message = self._unsent_message or next(self._message_iterator)
            if not self._unsent_message:
                return True
            if not self.channel.send(self._unsent_message):
                return False
            self._unsent_message = b""

    def _generate_messages(self) -> Iterator[bytes]:
        yield b"hello %d %d\n" % (PROTOCOL_VERSION, posix.getpid())
        known = sorted(self._announced_epochs)
        while known:
            yield b"".join(map(self._format_stream, known[:_STREAMS_PER_MESSAGE]))
            known = [epoch for epoch in known[_STREAMS_PER_MESSAGE:] if epoch in self._streams]
        yield b"ready\n"
        while True:
            epochs = list(self._changed_epochs)[:_STREAMS_PER_MESSAGE]
            yield b"".join(map(self._format_change, epochs))

    def _format_stream(self, epoch: int) -> bytes:
        self._changed_epochs.pop(epoch, None)
        stream = self._streams[epoch]
        return b"stream %b %d %b\n" % (stream.name, stream.size, STATE_NAMES[stream.close_flag])

    def _format_change(self, epoch: int) -> bytes:
        del self._changed_epochs[epoch]
        stream = self._streams[epoch]
        held = b"" if epoch in self._announced_epochs else b"held %b\n" % stream.name
        self._announced_epochs.add(epoch)
        if stream.close_flag:
            return held + b"%b %b %d\n" % (STATE_NAMES[stream.close_flag], stream.name, stream.size)
        if held and not stream.size:
            return held
        return held + b"grew %d %d\n" % (epoch, stream.size)

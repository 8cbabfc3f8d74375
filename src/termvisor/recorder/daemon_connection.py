"""The daemon's connection: it is told what streams there are, and from then on what is new.

News is derived from the streams when it is sent, so a slow listener costs one message and a set of epochs, and
whatever happened meanwhile is told once, in its latest form: nothing is lost and nothing piles up.
"""

from __future__ import annotations

import posix

from termvisor.recorder.options import PROTOCOL
from termvisor.recorder.pane_stream import STATES, Stream
from termvisor.recorder.seqpacket import Channel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STREAMS_A_MESSAGE = 64


class Listener:
    def __init__(self, channel: Channel, streams: dict[int, Stream]):
        self.channel = channel
        self._streams = streams
        self._known = set(streams)
        self._changed: dict[int, None] = {}
        self._messages = self._talk()
        self._message = b""

    def note(self, epoch: int) -> None:
        self._changed[epoch] = None

    def forget(self, epoch: int) -> None:
        self._known.discard(epoch)
        self._changed.pop(epoch, None)

    def flush(self) -> bool:
        """Send the news. False: the listener is slow, go on when it is writable. OSError: it is gone."""
        while True:
            self._message = self._message or next(self._messages)
            if not self._message:
                return True
            if not self.channel.send(self._message):
                return False
            self._message = b""

    def _talk(self) -> Iterator[bytes]:
        yield b"hello %d %d\n" % (PROTOCOL, posix.getpid())
        known = sorted(self._known)
        while known:
            yield b"".join(map(self._introduce, known[:_STREAMS_A_MESSAGE]))
            known = [epoch for epoch in known[_STREAMS_A_MESSAGE:] if epoch in self._streams]
        yield b"ready\n"
        while True:
            epochs = list(self._changed)[:_STREAMS_A_MESSAGE]
            yield b"".join(map(self._tell, epochs))

    def _introduce(self, epoch: int) -> bytes:
        self._changed.pop(epoch, None)
        stream = self._streams[epoch]
        return b"stream %b %d %b\n" % (stream.name, stream.size, STATES[stream.closed_by])

    def _tell(self, epoch: int) -> bytes:
        del self._changed[epoch]
        stream = self._streams[epoch]
        held = b"" if epoch in self._known else b"held %b\n" % stream.name
        self._known.add(epoch)
        if stream.closed_by:
            return held + b"%b %b %d\n" % (STATES[stream.closed_by], stream.name, stream.size)
        if held and not stream.size:
            return held
        return held + b"grew %d %d\n" % (epoch, stream.size)

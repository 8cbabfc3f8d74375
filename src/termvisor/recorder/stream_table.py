"""The streams that are held, and those that ended and are not yet forgotten. An epoch is recorded once, or refused."""

import posix

from termvisor.recorder.options import Options
from termvisor.recorder.pane_stream import Stream
from termvisor.recorder.poller import Poller
from termvisor.recorder.segment_log import ENDED, SegmentWriter
from termvisor.recorder.seqpacket import close_all

_NAME_BYTES = 37
"""Two numbers of eighteen digits and the slash between them."""


class Table:
    """``written`` and ``news`` (epochs that changed) add up until the recorder takes them, once a turn."""

    def __init__(self, options: Options, poller: Poller):
        self._options, self._poller = options, poller
        self.streams: dict[int, Stream] = {}
        self.by_fd: dict[int, Stream] = {}
        self.news: dict[int, None] = {}
        self.written = 0

    def hold(self, name: bytes, fds: list[int]) -> bytes:
        """Begin to record the one descriptor that was passed. The answer says whether it was taken."""
        why = self._objection(name, fds)
        if why:
            close_all(fds)
            return b"refused " + why
        pane, epoch = map(int, name.split(b"/"))
        writer = SegmentWriter(self._folder(pane, epoch), self._options.segment_bytes)
        try:
            self._take(Stream(pane, epoch, fds[0], writer))
        except OSError:
            close_all(fds)
            return b"refused kind"
        self.news[epoch] = None
        return b"ok"

    def resume(self, pane: int, epoch: int, fd: int, offset: int, last_at: int) -> None:
        """Go on with a stream that an earlier image of this process held."""
        folder = self._folder(pane, epoch)
        self._take(Stream(pane, epoch, fd, SegmentWriter(folder, self._options.segment_bytes, offset, last_at)))

    def remember(self, pane: int, epoch: int, size: int, closed_by: int) -> None:
        """Know of a stream that ended in an earlier image of this process."""
        stream = Stream(pane, epoch, -1, SegmentWriter(self._folder(pane, epoch), 0, size))
        stream.closed_by = closed_by
        self.streams[epoch] = stream

    def pump(self, fd: int) -> None:
        stream = self.by_fd[fd]
        before = stream.size
        flag = stream.pump()
        self._count(stream, before)
        if flag:
            self._close(stream, flag)

    def drop(self, epoch: int) -> None:
        """Close a stream, with all that its pipe held when we were asked to."""
        stream = self.streams.get(epoch)
        if stream and not stream.closed_by:
            before = stream.size
            flag = stream.drain()
            self._count(stream, before)
            self._close(stream, flag or ENDED)

    def forget(self, epoch: int) -> bool:
        stream = self.streams.get(epoch)
        if stream is None or not stream.closed_by:
            return False
        self.news.pop(epoch, None)
        del self.streams[epoch]
        return True

    def drop_all(self) -> None:
        for stream in list(self.by_fd.values()):
            self.drop(stream.epoch)

    def cut_all(self, flag: int) -> None:
        """Close every stream where it stands, because nothing more may be written."""
        for stream in list(self.by_fd.values()):
            self._close(stream, flag)

    def _objection(self, name: bytes, fds: list[int]) -> bytes:
        pane, slash, epoch = name.partition(b"/")
        if not (pane.isdigit() and slash and epoch.isdigit() and len(name) <= _NAME_BYTES):
            return b"name"
        if len(fds) != 1:
            return b"descriptors"
        if int(epoch) in self.streams or self._has_data(self._folder(int(pane), int(epoch))):
            return b"epoch"
        return b""

    def _take(self, stream: Stream) -> None:
        posix.set_blocking(stream.fd, False)
        self._poller.add(stream.fd)
        self.streams[stream.epoch] = self.by_fd[stream.fd] = stream

    def _count(self, stream: Stream, before: int) -> None:
        if stream.size > before:
            self.written += stream.size - before
            self.news[stream.epoch] = None

    def _close(self, stream: Stream, flag: int) -> None:
        self._poller.remove(stream.fd)
        del self.by_fd[stream.fd]
        stream.finish(flag)
        self.news[stream.epoch] = None

    def _folder(self, pane: int, epoch: int) -> str:
        return f"{self._options.raw_dir}/{pane}/{epoch}"

    @staticmethod
    def _has_data(folder: str) -> bool:
        try:
            return bool(posix.listdir(folder))
        except FileNotFoundError:
            return False
        except OSError:
            return True  # something else is in the way

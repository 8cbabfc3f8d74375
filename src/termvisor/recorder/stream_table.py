"""Keep the table of open streams and of ended ones the daemon has not acknowledged.

Invariant: an epoch is recorded once; a second stream for it is refused.
"""

import posix

from termvisor.recorder.options import RecorderOptions
from termvisor.recorder.pane_stream import PaneStream
from termvisor.recorder.poller import Poller
from termvisor.recorder.segment_log import FLAG_ENDED, SegmentWriter
from termvisor.recorder.seqpacket import close_descriptors

_MAX_NAME_BYTES = 37
"""Two numbers of eighteen digits and a slash."""


class StreamTable:
    """``unreported_bytes`` and ``changed_epochs`` add up until the recorder takes them, once a turn."""

    def __init__(self, options: RecorderOptions, poller: Poller):
        self._options, self._poller = options, poller
        self.streams_by_epoch: dict[int, PaneStream] = {}
        self.streams_by_fd: dict[int, PaneStream] = {}
        self.changed_epochs: dict[int, None] = {}
        self.unreported_bytes = 0

    def hold_stream(self, name: bytes, fds: list[int]) -> bytes:
        """Start recording the passed descriptor; return the answer to send: `ok` or `refused` with a reason."""
        reason = self._find_refusal(name, fds)
        if reason:
            close_descriptors(fds)
            return b"refused " + reason
        pane, epoch = map(int, name.split(b"/"))
        writer = SegmentWriter(self._build_folder_path(pane, epoch), self._options.segment_bytes)
        try:
            self._add_stream(PaneStream(pane, epoch, fds[0], writer))
        except OSError:
            close_descriptors(fds)
            return b"refused kind"
        self.changed_epochs[epoch] = None
        return b"ok"

    def resume_stream(self, pane: int, epoch: int, fd: int, offset: int, last_at: int) -> None:
        """Continue a stream that this process held before a re-exec."""
        folder = self._build_folder_path(pane, epoch)
        self._add_stream(
            PaneStream(pane, epoch, fd, SegmentWriter(folder, self._options.segment_bytes, offset, last_at))
        )

    def restore_closed_stream(self, pane: int, epoch: int, size: int, close_flag: int) -> None:
        """Restore a stream that ended before a re-exec."""
        stream = PaneStream(pane, epoch, -1, SegmentWriter(self._build_folder_path(pane, epoch), 0, size))
        stream.close_flag = close_flag
        self.streams_by_epoch[epoch] = stream

    def pump_stream(self, fd: int) -> None:
        stream = self.streams_by_fd[fd]
        before = stream.size
        flag = stream.pump()
        self._count_written(stream, before)
        if flag:
            self._close_stream(stream, flag)

    def drop_stream(self, epoch: int) -> None:
        """Close a stream after reading what its pipe holds."""
        stream = self.streams_by_epoch.get(epoch)
        if stream and not stream.close_flag:
            before = stream.size
            flag = stream.drain()
            self._count_written(stream, before)
            self._close_stream(stream, flag or FLAG_ENDED)

    def forget_stream(self, epoch: int) -> bool:
        stream = self.streams_by_epoch.get(epoch)
        if stream is None or not stream.close_flag:
            return False
        self.changed_epochs.pop(epoch, None)
        del self.streams_by_epoch[epoch]
        return True

    def drop_all(self) -> None:
        for stream in list(self.streams_by_fd.values()):
            self.drop_stream(stream.epoch)

    def close_all(self, flag: int) -> None:
        """Close every stream without reading on, because nothing more may be written."""
        for stream in list(self.streams_by_fd.values()):
            self._close_stream(stream, flag)

    def _find_refusal(self, name: bytes, fds: list[int]) -> bytes:
        pane, slash, epoch = name.partition(b"/")
        if not (pane.isdigit() and slash and epoch.isdigit() and len(name) <= _MAX_NAME_BYTES):
            return b"name"
        if len(fds) != 1:
            return b"descriptors"
        if int(epoch) in self.streams_by_epoch or self._has_data(self._build_folder_path(int(pane), int(epoch))):
            return b"epoch"
        return b""

    def _add_stream(self, stream: PaneStream) -> None:
        posix.set_blocking(stream.fd, False)
        self._poller.add(stream.fd)
        self.streams_by_epoch[stream.epoch] = self.streams_by_fd[stream.fd] = stream

    def _count_written(self, stream: PaneStream, before: int) -> None:
        if stream.size > before:
            self.unreported_bytes += stream.size - before
            self.changed_epochs[stream.epoch] = None

    def _close_stream(self, stream: PaneStream, flag: int) -> None:
        self._poller.remove(stream.fd)
        del self.streams_by_fd[stream.fd]
        stream.finish(flag)
        self.changed_epochs[stream.epoch] = None

    def _build_folder_path(self, pane: int, epoch: int) -> str:
        return f"{self._options.raw_dir}/{pane}/{epoch}"

    @staticmethod
    def _has_data(folder: str) -> bool:
        try:
            return bool(posix.listdir(folder))
        except FileNotFoundError:
            return False
        except OSError:
            return True  # not a folder, or unreadable: refuse

"""Copy pipes to their raw logs, and keep a table of open streams and of ended ones not yet acknowledged by the daemon.

Invariant: bytes are written as soon as they are read. An epoch is recorded once; a second stream for it is refused.
"""

import errno
import posix
from time import time_ns  # noqa: TID251 - the recorder cannot import termvisor.clock

from termvisor.recorder.segment_log import FLAG_CAPPED, FLAG_ENDED, FLAG_STARVED, SegmentWriter
from termvisor.recorder.sockets import Poller, close_descriptors
from termvisor.recorder.startup import RecorderOptions

# Two numbers of eighteen digits and a slash.
_MAX_NAME_BYTES = 37
READ_BYTES = 1 << 16
# Maximum reads before other streams get their turn.
_READS_PER_TURN = 4
# Maximum reads before a pipe is closed, because a program that keeps writing must not delay that.
_READS_WHEN_CLOSING = 32
STATE_NAMES = {0: b"open", FLAG_ENDED: b"ended", FLAG_CAPPED: b"capped", FLAG_STARVED: b"starved"}


class PaneStream:
    """The pipe of a pane and its log; ``close_flag`` is 0 while the stream is open, then the flag of its end record."""

    def __init__(self, pane: int, epoch: int, fd: int, writer: SegmentWriter):
        self.pane, self.epoch = pane, epoch
        self.fd = fd
        self.writer = writer
        self.close_flag = 0

    @property
    def name(self) -> bytes:
        return b"%d/%d" % (self.pane, self.epoch)

    @property
    def size(self) -> int:
        return self.writer.offset

    def pump(self, reads: int = _READS_PER_TURN) -> int:
        """Copy data from the pipe to the log, in up to ``reads`` reads; return a flag if the stream must close."""
        for _ in range(reads):
            try:
                data = posix.read(self.fd, READ_BYTES)
            except BlockingIOError:
                return 0
            except OSError:
                # Reading a pty whose program exited fails with EIO.
                return FLAG_ENDED
            if not data:
                return FLAG_ENDED
            try:
                self.writer.append(data, time_ns())
            except OSError as error:
                # Mostly a full disk. Closing the pipe keeps tmux from buffering what cannot be written.
                return FLAG_STARVED if error.errno in (errno.EMFILE, errno.ENFILE) else FLAG_CAPPED
            if len(data) < READ_BYTES:
                return 0
        return 0

    def finish(self, flag: int) -> None:
        """Write the end record and close the pipe and files. The flag is kept even if the disk is full."""
        self.close_flag = flag
        try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
            self.writer.write_end(flag, time_ns())
        except OSError:
            # The disk is full. The log lacks its end record, but the daemon gets the report.
            pass
        self.writer.close()
        posix.close(self.fd)
        self.fd = -1


class StreamTable:
    """All streams; ``unreported_bytes`` and ``changed_epochs`` accumulate until the recorder takes them each turn."""

    def __init__(self, options: RecorderOptions, poller: Poller):
        self._options, self._poller = options, poller
        self.streams_by_epoch: dict[int, PaneStream] = {}
        self.streams_by_fd: dict[int, PaneStream] = {}
        self.changed_epochs: dict[int, None] = {}
        self.unreported_bytes = 0

    def hold_stream(self, name: bytes, fds: list[int]) -> bytes:
        """Start recording the received descriptor; return the answer to send: `ok`, or `refused` with a reason."""
        if reason := self._find_refusal(name, fds):
            return self.refuse(fds, reason)
        pane, epoch = map(int, name.split(b"/"))
        writer = SegmentWriter(self._build_folder_path(pane, epoch), self._options.segment_bytes)
        try:
            self._add_stream(PaneStream(pane, epoch, fds[0], writer))
        except OSError:
            # epoll does not support regular files.
            return self.refuse(fds, b"kind")
        self.changed_epochs[epoch] = None
        return b"ok"

    @staticmethod
    def refuse(fds: list[int], reason: bytes) -> bytes:
        close_descriptors(fds)
        return b"refused " + reason

    def resume_stream(self, pane: int, epoch: int, fd: int, offset: int, last_at: int) -> None:
        """Continue a stream that was open before a re-exec of this process."""
        folder = self._build_folder_path(pane, epoch)
        writer = SegmentWriter(folder, self._options.segment_bytes, offset, last_at)
        self._add_stream(PaneStream(pane, epoch, fd, writer))

    def restore_closed_stream(self, pane: int, epoch: int, size: int, close_flag: int) -> None:
        """Restore a stream that ended before a re-exec."""
        stream = PaneStream(pane, epoch, -1, SegmentWriter(self._build_folder_path(pane, epoch), 0, size))
        stream.close_flag = close_flag
        self.streams_by_epoch[epoch] = stream

    def pump_stream(self, fd: int) -> None:
        stream = self.streams_by_fd[fd]
        if flag := self._pump(stream, _READS_PER_TURN):
            self._close_stream(stream, flag)

    def drop_stream(self, epoch: int) -> None:
        """Close a stream after reading the data in its pipe."""
        stream = self.streams_by_epoch.get(epoch)
        if stream and not stream.close_flag:
            self._close_stream(stream, self._pump(stream, _READS_WHEN_CLOSING) or FLAG_ENDED)

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
        """Close every stream without reading the rest, because nothing more may be written."""
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

    def _pump(self, stream: PaneStream, reads: int) -> int:
        before = stream.size
        flag = stream.pump(reads)
        if stream.size > before:
            self.unreported_bytes += stream.size - before
            self.changed_epochs[stream.epoch] = None
        return flag

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
            # Not a folder, or unreadable. Refuse rather than mix two streams.
            return True

"""A stream: one pipe that is held and appended to its log until it ends. What was read is written at once."""

import posix
from time import time_ns  # noqa: TID251 - this process imports nothing else of ours

from termvisor.recorder.segment_log import FLAG_CAPPED, FLAG_ENDED, SegmentWriter

READ_BYTES = 1 << 16
_READS_PER_TURN = 4
_READS_WHEN_CLOSING = 32
STATE_NAMES = {0: b"open", FLAG_ENDED: b"ended", FLAG_CAPPED: b"capped"}


class PaneStream:
    """``closed_by`` is 0 while it is open, then the flag of its closing record."""

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
        """Move what waits in the pipe to the log, but leave time for the others. A flag says why it must close."""
        for _ in range(reads):
            try:
                data = posix.read(self.fd, READ_BYTES)
            except BlockingIOError:
                return 0
            except OSError:
                return FLAG_ENDED  # a terminal whose program is gone answers EIO
            if not data:
                return FLAG_ENDED
            try:
                self.writer.append(data, time_ns())
            except OSError:
                return FLAG_CAPPED
            if len(data) < READ_BYTES:
                return 0
        return 0

    def drain(self) -> int:
        """Take what was already in the pipe when it is to be closed."""
        return self.pump(_READS_WHEN_CLOSING)

    def finish(self, flag: int) -> None:
        """Close pipe and files; what can no longer be recorded on disk is still known here."""
        self.close_flag = flag
        try:  # noqa: SIM105 - contextlib alone would cost this process half a megabyte
            self.writer.write_end(flag, time_ns())
        except OSError:
            pass  # the disk is full: the reader sees a log without an end, the listener is told
        self.writer.close()
        posix.close(self.fd)
        self.fd = -1

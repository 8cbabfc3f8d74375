"""Copy one pipe to its raw log until it ends; bytes are written as soon as they are read."""

import posix
from time import time_ns  # noqa: TID251 - the recorder cannot import termvisor.clock

from termvisor.recorder.segment_log import FLAG_CAPPED, FLAG_ENDED, SegmentWriter

READ_BYTES = 1 << 16
_READS_PER_TURN = 4
"""Reads before other streams get their turn."""
_READS_WHEN_CLOSING = 32
"""Bounds drain(): a program that keeps writing must not delay the close."""
STATE_NAMES = {0: b"open", FLAG_ENDED: b"ended", FLAG_CAPPED: b"capped"}


class PaneStream:
    """``close_flag`` is 0 while the stream is open, then the flag of its end record."""

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
        """Copy what the pipe holds to the log, up to ``reads`` reads; return a flag if the stream must close."""
        for _ in range(reads):
            try:
                data = posix.read(self.fd, READ_BYTES)
            except BlockingIOError:
                return 0
            except OSError:
                return FLAG_ENDED  # a pty whose program exited returns EIO
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
        """Copy what is already in the pipe before closing it."""
        return self.pump(_READS_WHEN_CLOSING)

    def finish(self, flag: int) -> None:
        """Write the end record and close pipe and files; the flag is kept even if the disk is full."""
        self.close_flag = flag
        try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
            self.writer.write_end(flag, time_ns())
        except OSError:
            pass  # the disk is full: the log has no end record, but the daemon gets the report
        self.writer.close()
        posix.close(self.fd)
        self.fd = -1

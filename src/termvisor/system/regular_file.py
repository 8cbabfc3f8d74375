"""Open a path only if it is a regular file: opening a named pipe without a writer would block."""

import errno
import os
import stat


def open_regular_file(path: str, flags: int) -> int:
    """Open a regular file or a link to one, as the ``opener`` of ``open``. Raises OSError for anything else."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "not a regular file")

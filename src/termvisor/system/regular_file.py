"""Opens what a person names, and only if it is a plain file: a pipe with nobody at its other end holds nobody up."""

import errno
import os
import stat


def open_regular_file(path: str, flags: int) -> int:
    """For ``open(..., opener=plain)``. OSError for anything but a plain file, or a link to one."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is not a plain file")

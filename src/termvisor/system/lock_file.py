"""Allow one daemon per user: the holder of the lock file is the daemon. The kernel releases the lock when it exits.

The file contains the holder's pid. `read_lock_holder` takes the lock for a moment, so `acquire_lock` may fail then and
its caller must retry.
"""

import fcntl
import os


def acquire_lock(path: str) -> int | None:
    """Return a descriptor that holds the lock while it is open, or None if another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
    return descriptor


def read_lock_holder(path: str) -> int | None:
    """Return the holder's pid; 0 if it has not written its pid yet, None if no process holds the lock."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return None
    except OSError:
        return int(os.pread(descriptor, 32, 0).strip() or b"0")
    finally:
        os.close(descriptor)

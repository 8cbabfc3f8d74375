"""One instance per user: whoever holds the lock file is the daemon. The kernel lets go of it when the holder dies.

The file holds the holder's pid. Asking who holds it takes the lock for a moment, so a taker tries more than once.
"""

import fcntl
import os


def acquire_lock(path: str) -> int | None:
    """A descriptor that holds the lock as long as it is open, or None when somebody else holds it."""
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
    """The pid of the living holder; 0 while it has not said its pid yet, None when nobody holds the lock."""
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

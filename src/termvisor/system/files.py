"""Open, replace and lock files; create private folders.

`write_atomically`: a concurrent reader sees either the old or the new content, never a mix; an existing file keeps its
owner and mode. `acquire_lock`: the holder of the daemon's lock file is the daemon; the kernel releases the lock when it
exits.
"""

import errno
import fcntl
import os
import stat
from contextlib import suppress

from termvisor.errors import Unavailable


def write_atomically(target: str, data: bytes, template: os.stat_result | None, mode: int = 0o600) -> None:
    """Write ``data`` to ``target`` with the owner and mode of ``template``, or with ``mode`` if there is none."""
    temporary = f"{target}.{os.urandom(4).hex()}.new"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            # Only root may change the owner, so fchown is skipped where it would change nothing.
            if template is not None and (template.st_uid, template.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), template.st_uid, template.st_gid)
            os.fchmod(file.fileno(), mode if template is None else stat.S_IMODE(template.st_mode))
            file.write(data)
            file.flush()
            # Without fsync a power failure after the rename can leave an empty file.
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError:
        # The caller gets the first error; a second one while cleaning up would only hide it.
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_private_file(target: str, data: bytes) -> None:
    """Replace a file that only this user may read, atomically but without waiting for the disk. Meant for caches."""
    # The name includes the pid, because two processes may write the same cache at the same time.
    temporary = f"{target}.{os.getpid()}"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
    os.replace(temporary, target)


def stat_if_exists(target: str) -> os.stat_result | None:
    """Return the status of a file, or None if it does not exist."""
    return os.stat(target) if os.path.exists(target) else None


def open_regular_file(path: str, flags: int) -> int:
    """Open a regular file or a link to one; usable as the ``opener`` of ``open``. Raises OSError for anything else."""
    # Without O_NONBLOCK the call would wait for the writer of a named pipe. The type is checked on the descriptor,
    # because the path may be replaced between a check and the opening.
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "not a regular file")


def acquire_lock(path: str) -> int | None:
    """Return a descriptor that holds the lock while open, or None if another process holds the lock.

    `read_lock_holder` briefly takes the lock, which may make this call fail, so the caller must retry.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Another process holds the lock.
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
        # Refused, so a daemon holds the lock. It writes its pid only after acquiring it.
        return int(os.pread(descriptor, 32, 0).strip() or b"0")
    finally:
        os.close(descriptor)


def make_private_folder(path: str) -> None:
    """Create a folder with mode 0700, or restrict an existing one.

    Raises Unavailable if the folder cannot be created, is not a folder owned by this user, or is world-writable.
    """
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.lstat(path)
    except OSError as error:
        raise Unavailable(
            f"cannot create {path}: {error.strerror}", hint="Check permissions and free space."
        ) from error
    # Follow a symbolic link only to a target owned by this user, because anyone could plant a link in /tmp.
    if stat.S_ISLNK(status.st_mode) and os.stat(path).st_uid == os.getuid():
        status = os.stat(path)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise Unavailable(
            f"{path} is not a folder owned by you",
            hint="Set VISOR_RUNTIME_DIR or VISOR_DATA_DIR to a folder that you own.",
        )
    # Changing the mode of a shared folder such as /tmp would break it for other users.
    if status.st_mode & (stat.S_ISVTX | stat.S_IWOTH):
        raise Unavailable(
            f"{path} is writable by all users; refusing to change its mode",
            hint="Use a folder that you own, for example a subfolder of it.",
        )
    if status.st_mode & 0o077:
        os.chmod(path, 0o700)

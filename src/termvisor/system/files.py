"""Open, replace and lock files; create private folders.

`write_atomically`: a concurrent reader sees either the old or the new content, never a mix; an existing file keeps its
owner and mode. `acquire_lock`: the holder of the daemon's lock file is the daemon; the kernel releases the lock when it
exits.
"""

import errno
import fcntl
import os
import stat
import sys
from contextlib import suppress
from typing import IO

from termvisor.errors import ConfigError, Unavailable

OWN_NAMES = frozenset({"visor.db", "snapshot.db", "raw", "nonce", "hook.sh", "shells", "rec"})
"""Names by which a data or runtime folder of Termvisor is recognised. Common names, such as `log`, are left out."""
_PARTIAL_NAMES = frozenset({"daemon", "lock", "start", "demo", "render", "pty"})
"""A runtime folder with nothing else is Termvisor's, too: a process was killed while it made the folder."""
_FOLDER_HINT = "Set VISOR_DATA_DIR or VISOR_RUNTIME_DIR to a new or an empty folder; the folder was not changed."


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


def open_log_file(path: str) -> IO[bytes]:
    """Open the log of a process for appending, and create its folder; both are private."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")


def open_memory_file(name: str, data: bytes) -> int:
    """Return a descriptor of an anonymous file with this content, to be passed to another process."""
    if sys.platform == "linux":
        fd = os.memfd_create(name)
    else:  # untested
        import tempfile

        with tempfile.TemporaryFile(prefix=name) as file:
            fd = os.dup(file.fileno())
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
    return fd


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


def acquire_lock(path: str, note: str = "") -> int | None:
    """Return a descriptor that holds the lock while open, or None if another process holds the lock.

    ``note`` is text for other processes, see `read_lock_note`. `read_lock_holder` briefly takes the lock, which may
    make this call fail, so the caller must retry.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        # Another process holds the lock.
        os.close(descriptor)
        return None
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, b"%d\n%b\n" % (os.getpid(), os.fsencode(note)), 0)
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
        return int(_read_lock_line(descriptor, 0) or b"0")
    finally:
        os.close(descriptor)


def read_lock_note(path: str) -> str:
    """Return the text that the last holder of a lock left for others; empty if there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return ""
    try:
        return os.fsdecode(_read_lock_line(descriptor, 1))
    finally:
        os.close(descriptor)


def _read_lock_line(descriptor: int, number: int) -> bytes:
    lines = os.pread(descriptor, 4096, 0).split(b"\n")
    return lines[number].strip() if number < len(lines) else b""


def find_trust_problem(path: str) -> str:
    """Return why another user could have written a file, or could replace it; empty if none could, root excepted."""
    for checked in (os.path.dirname(os.path.abspath(path)), path):
        try:
            status = os.stat(checked)
        except OSError:
            # A missing file is no risk while no other user can create it; reading it reports any other problem.
            continue
        if status.st_uid not in (os.geteuid(), 0):
            return f"{checked} belongs to user {status.st_uid}"
        if status.st_mode & stat.S_IWOTH:
            return f"{checked} can be written by all users"
    return ""


def check_own_folder(path: str) -> None:
    """Raise ConfigError if ``path`` is an existing folder with content that is not Termvisor's."""
    names = _list_names(path) - {"lost+found"}
    if OWN_NAMES.isdisjoint(names) and not names <= _PARTIAL_NAMES:
        raise ConfigError(f"{path} is not empty and was not made by Termvisor", hint=_FOLDER_HINT)


def _list_names(path: str) -> set[str]:
    try:
        return set(os.listdir(path))
    except OSError:
        # It does not exist yet, or `make_private_folder` reports what is wrong with it.
        return set()


def make_private_folder(path: str, *, keeps_mode: bool = False) -> None:
    """Create a folder with mode 0700, or restrict an existing one, unless ``keeps_mode``.

    Raises Unavailable if the folder cannot be created, is not a folder owned by this user, or is world-writable, and
    ConfigError if it would have to be restricted but is not Termvisor's.
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
    if status.st_mode & 0o077 and not keeps_mode:
        # A folder inside one of ours (`raw`, `log`) is ours too, whatever it contains.
        if OWN_NAMES.isdisjoint(_list_names(os.path.dirname(path))):
            check_own_folder(path)
        os.chmod(path, 0o700)

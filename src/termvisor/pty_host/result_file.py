"""Keep how a program ended in a small file, so that it survives the host.

The file is allocated before the program starts and overwritten in place, which also works on a full disk.
"""

from __future__ import annotations

import posix

from termvisor.pty_host.startup import Fields, decode_fields, encode_fields

RESULT_BYTES = 512


def create_result_file(path: str, row: Fields) -> None:
    """Allocate the file. Raises OSError if there is no space for it."""
    fd = posix.open(path, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC | posix.O_NOFOLLOW, 0o600)
    try:
        posix.write(fd, _format_row(row))
    finally:
        posix.close(fd)


def overwrite_result_file(path: str, row: Fields) -> None:
    """Replace the content in one write. A deleted file is not created again."""
    try:
        fd = posix.open(path, posix.O_WRONLY | posix.O_NOFOLLOW)
    except OSError:
        # Deleted with its folder: the state is still in memory.
        return
    try:
        posix.pwrite(fd, _format_row(row), 0)
    except OSError:
        # A file system with copy on write that is full. The state is still in memory.
        pass
    finally:
        posix.close(fd)


def read_result_file(path: str) -> Fields:
    """Return the fields; empty if the file is missing or was never written."""
    try:
        fd = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW)
    except OSError:
        return {}
    try:
        return decode_fields(posix.read(fd, RESULT_BYTES).rstrip(b"\n \0").split())
    finally:
        posix.close(fd)


def delete_result_file(path: str) -> None:
    try:  # noqa: SIM105 - importing contextlib would cost this process half a megabyte
        posix.unlink(path)
    except OSError:
        pass  # the folder was removed


def _format_row(row: Fields) -> bytes:
    return encode_fields(row)[: RESULT_BYTES - 1].ljust(RESULT_BYTES - 1) + b"\n"

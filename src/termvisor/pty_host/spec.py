"""Read what a request carries in a file: the program to start, or text that is too long for a message.

The command travels as data, so every byte of an argument arrives unchanged. Only regular files (memfd) are read,
because reading anything else could block the host.
"""

from __future__ import annotations

import posix

MAX_SPEC_BYTES = 4 << 20
"""More than the kernel accepts as arguments and environment of a program with default limits."""
MAX_TEXT_BYTES = 1 << 20
_FILE_TYPE, _REGULAR_FILE = 0o170000, 0o100000
MAX_TAG_BYTES = 512


class ProgramSpec:
    """The program to start, and the size of its terminal. ``tag`` is kept for the daemon and not interpreted."""

    __slots__ = ("argv", "columns", "cwd", "env", "pixel_height", "pixel_width", "rows", "tag")

    def __init__(self, argv: list[bytes], env: list[bytes], *, cwd: bytes, size: tuple[int, int, int, int], tag: bytes):
        self.argv, self.env, self.cwd, self.tag = argv, env, cwd, tag
        self.rows, self.columns, self.pixel_width, self.pixel_height = size

    def encode(self) -> bytes:
        numbers = [self.rows, self.columns, self.pixel_width, self.pixel_height]
        head = [*(b"%d" % number for number in numbers), self.cwd, self.tag.hex().encode(), b"%d" % len(self.argv)]
        return b"\0".join([*head, *self.argv, *self.env])


def parse_spec(data: bytes) -> ProgramSpec:
    """Return the program to start. Raises ValueError if the data is no spec."""
    rows, columns, width, height, cwd, tag, count, *words = data.split(b"\0")
    argv, env = words[: int(count)], words[int(count) :]
    if not argv or len(argv) != int(count) or not all(b"=" in word for word in env):
        raise ValueError("the spec is incomplete")
    if len(tag) > 2 * MAX_TAG_BYTES:
        raise ValueError("the tag is too long")
    size = check_size(int(rows), int(columns), int(width), int(height))
    return ProgramSpec(argv, env, cwd=cwd, size=size, tag=bytes.fromhex(tag.decode("ascii")))


def check_size(rows: int, columns: int, width: int = 0, height: int = 0) -> tuple[int, int, int, int]:
    """Return a terminal size. Raises ValueError if the kernel could not store it."""
    if not (0 < rows < 1 << 16 and 0 < columns < 1 << 16 and 0 <= width < 1 << 16 and 0 <= height < 1 << 16):
        raise ValueError("the size is out of range")
    return rows, columns, width, height


def read_attached_file(fd: int, limit: int) -> bytes:
    """Return the content of a regular file. Raises ValueError if it is another kind of file, or too long."""
    status = posix.fstat(fd)
    if status.st_mode & _FILE_TYPE != _REGULAR_FILE or status.st_size > limit:
        raise ValueError("not a regular file, or too long")
    data = b""
    while len(data) < status.st_size and (chunk := posix.pread(fd, status.st_size - len(data), len(data))):
        data += chunk
    return data

"""A consistent copy of a database that is in use: complete and on disk before it has its name.

The copy is one compact file that needs no other beside it, and is private like the original.
"""

import os
from contextlib import closing, suppress
from typing import cast

import apsw

from termvisor.errors import Conflict
from termvisor.model.maintenance import DatabaseContents
from termvisor.store.sqlite.database import Connection

_SELECT_COUNTS = """
SELECT (SELECT count(*) FROM pane),
       (SELECT CAST(total(next_line - coalesce((SELECT min(first_line) FROM block WHERE pane = pane.id), next_line))
                    AS INTEGER) FROM pane),
       (SELECT count(*) FROM event), (SELECT max(at) FROM event)
"""


def write_copy(connection: Connection, path: str) -> tuple[int, DatabaseContents]:
    """Copy what is committed now to a new file; its size and what is in it."""
    part = claim_path(path)
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600))
        connection.execute("VACUUM INTO ?", (part,))
        fsync_path(part)
        contents = read_file_contents(part)
        os.replace(part, path)
        fsync_path(os.path.dirname(path))
    except BaseException:
        for name in (part, path):
            with suppress(FileNotFoundError):
                os.unlink(name)
        raise
    return os.stat(path).st_size, contents


def replace_copy(connection: Connection, path: str) -> int:
    """As `write_copy`, but in the place of an older copy, which stays whole until the new one is; its size."""
    fresh = f"{path}.new"
    with suppress(FileNotFoundError):
        os.unlink(fresh)
    size, _ = write_copy(connection, fresh)
    os.replace(fresh, path)
    fsync_path(os.path.dirname(path))
    return size


def claim_path(path: str) -> str:
    """Take the name, so that no other file can get it, and give the name of the unfinished file beside it."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError as error:
        raise Conflict(f"there is a file {path} already", hint="Name another file, or move this one away.") from error
    return f"{path}.part"


def open_immutable(path: str) -> Connection:
    """A file that nobody writes, read as it is; nothing is made beside it."""
    from urllib.parse import quote  # half a megabyte for what is rarely done

    address = f"file:{quote(path)}?mode=ro&immutable=1"
    return Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def read_file_contents(path: str) -> DatabaseContents:
    with closing(open_immutable(path)) as connection:
        return read_contents(connection)


def read_contents(connection: Connection) -> DatabaseContents:
    row = connection.execute(_SELECT_COUNTS).fetchone()
    panes, lines, events, newest = cast("tuple[int, int, int, int | None]", row)
    version: int = connection.pragma("user_version")
    return DatabaseContents(version=version, panes=panes, lines=lines, events=events, newest_at=newest)


def fsync_path(path: str) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

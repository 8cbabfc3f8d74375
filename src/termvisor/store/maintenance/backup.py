"""Back up a database in use to one compact, private file.

The file gets its name only after it is complete and synced to disk.
"""

import os
from contextlib import closing, suppress
from typing import cast

import apsw

from termvisor.errors import StateConflict
from termvisor.model.maintenance import DatabaseContents
from termvisor.store.sqlite.database import Connection

_SELECT_COUNTS = """
SELECT (SELECT count(*) FROM pane),
       (SELECT CAST(total(next_line - coalesce((SELECT min(first_line) FROM block WHERE pane = pane.id), next_line))
                    AS INTEGER) FROM pane),
       (SELECT count(*) FROM event), (SELECT max(at) FROM event)
"""


def write_copy(connection: Connection, path: str) -> tuple[int, DatabaseContents]:
    """Copy the committed state to a new file; return its size and a summary. Raises Conflict if the file exists."""
    part = claim_path(path)
    try:
        # Created here rather than by SQLite, so that the file is private from the start.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600))
        connection.execute("VACUUM INTO ?", (part,))
        fsync_path(part)
        contents = read_file_contents(part)
        os.replace(part, path)
        # A rename is durable only after its folder is synced.
        fsync_path(os.path.dirname(path))
    except BaseException:
        # Also remove the empty file that claimed the name; otherwise the next attempt would raise Conflict.
        for name in (part, path):
            with suppress(FileNotFoundError):
                os.unlink(name)
        raise
    return os.stat(path).st_size, contents


def replace_copy(connection: Connection, path: str) -> int:
    """Write a new copy, then atomically replace the older one with it; return the new size."""
    new_path = f"{path}.new"
    # Left behind by a daemon that was killed while writing a snapshot.
    with suppress(FileNotFoundError):
        os.unlink(new_path)
    size, _ = write_copy(connection, new_path)
    os.replace(new_path, path)
    fsync_path(os.path.dirname(path))
    return size


def claim_path(path: str) -> str:
    """Create an empty file to claim the name; return the path of the unfinished copy. Raises Conflict if it exists."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError as error:
        raise StateConflict(
            f"{path} already exists", hint="Choose another file name, or move this file away."
        ) from error
    return f"{path}.part"


def open_immutable(path: str) -> Connection:
    """Open a file read-only that no process is writing, so that SQLite creates no files next to it."""
    # Imported here because it costs half a megabyte and is rarely used.
    from urllib.parse import quote

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
    """Sync a file, or the entries of a folder, to disk."""
    descriptor = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Header and schema migrations of the database file.

The header is read as plain bytes: SQLite would create files next to a write-ahead database that belongs to another
program. Layout: https://sqlite.org/fileformat2.html sections 1.3 and 4. Migrations are forward-only files
``schema/NNNN_name.sql``, each applied in its own transaction; a migration that fails leaves the database unchanged.
"""

import os
import re
import struct
from typing import BinaryIO

import apsw
from msgspec import Struct

APPLICATION_ID = 0x56495352
"""``VISR``: the application id in the header of every Termvisor database."""

_MAGIC = b"SQLite format 3\0"
_HEADER = struct.Struct(">60xI4xI28x")
_WAL_HEADER = struct.Struct(">8xI4x8s8x")
_WAL_FRAME = struct.Struct(">II8s8x")
MIGRATIONS_DIR = os.path.join(os.path.dirname(__file__), "schema")
_FILE_NAME = re.compile(r"(\d{4})_\w+\.sql")


class DatabaseHeader(Struct, frozen=True):
    is_database: bool
    version: int = 0
    application_id: int = 0

    @property
    def is_termvisor(self) -> bool:
        return self.is_database and self.application_id == APPLICATION_ID


def read_database_header(path: str) -> DatabaseHeader | None:
    """Return the header as the next reader will see it, or None if the file is missing or empty."""
    try:
        with open(path, "rb") as file:
            page = file.read(_HEADER.size)
    except FileNotFoundError:
        return None
    if not page:
        return None
    if len(page) < _HEADER.size or not page.startswith(_MAGIC):
        return DatabaseHeader(False)
    return DatabaseHeader(True, *_HEADER.unpack(_read_first_page_from_wal(path) or page))


def _read_first_page_from_wal(path: str) -> bytes | None:
    """Return the newest committed first page in the write-ahead log, if there is one."""
    try:
        with open(path + "-wal", "rb") as file:
            return _find_newest_first_page(file)
    except FileNotFoundError:
        # The last process that used the file closed it properly.
        return None


def _find_newest_first_page(wal: BinaryIO) -> bytes | None:
    head = wal.read(_WAL_HEADER.size)
    if len(head) < _WAL_HEADER.size:
        return None
    page_size, salt = _WAL_HEADER.unpack(head)
    # A page counts only once a later frame commits it: the process may have been killed in between.
    uncommitted: bytes | None = None
    newest: bytes | None = None
    while len(frame := wal.read(_WAL_FRAME.size)) == _WAL_FRAME.size:
        number, commit, frame_salt = _WAL_FRAME.unpack(frame)
        if frame_salt != salt:  # a frame left over from before the log was restarted
            break
        if number == 1:
            uncommitted = wal.read(_HEADER.size)
            wal.seek(page_size - len(uncommitted), os.SEEK_CUR)
        else:
            wal.seek(page_size, os.SEEK_CUR)
        if commit and uncommitted is not None and len(uncommitted) == _HEADER.size:
            newest = uncommitted
    return newest


class SchemaMigration(Struct, frozen=True, order=True):
    version: int
    path: str


def list_migrations(folder: str = MIGRATIONS_DIR) -> list[SchemaMigration]:
    """Return the migrations in a folder, oldest first."""
    matches = (_FILE_NAME.fullmatch(name) for name in os.listdir(folder))
    return sorted(SchemaMigration(int(match[1]), os.path.join(folder, match[0])) for match in matches if match)


def find_latest_version(folder: str = MIGRATIONS_DIR) -> int:
    return max(migration.version for migration in list_migrations(folder))


def apply_migrations(connection: apsw.Connection, folder: str = MIGRATIONS_DIR) -> None:
    for migration in list_migrations(folder):
        _apply_migration(connection, migration)


def _apply_migration(connection: apsw.Connection, migration: SchemaMigration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Checked inside the transaction: another process may have migrated in the meantime.
        if connection.pragma("user_version") < migration.version:
            with open(migration.path, encoding="utf-8") as file:
                connection.execute(file.read())
            connection.pragma("user_version", migration.version)
        connection.execute("COMMIT")
    except BaseException:
        # SQLite has already rolled back after some errors, such as a full disk.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

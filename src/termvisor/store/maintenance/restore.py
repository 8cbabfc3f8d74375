"""Replace the database with a backup, in a worker process while no daemon is running.

Invariant: whenever the process is killed, the path holds a complete database, either the previous one or the backup.
The previous one is kept under a dated name and never deleted. Row ids that it assigned are not reused.
"""

import os
import shutil
from contextlib import closing, suppress
from typing import cast

import apsw
import msgspec

from termvisor.clock import format_timestamp
from termvisor.errors import BadRequest, NewerDatabase, StorageError
from termvisor.model.maintenance import DatabaseContents, RestoreSummary
from termvisor.store.maintenance.backup import fsync_path, read_file_contents
from termvisor.store.maintenance.integrity_check import find_file_damage, find_index_damage
from termvisor.store.sqlite.database import Connection, open_connection
from termvisor.store.sqlite.database_file import find_latest_version, read_database_header
from termvisor.store.sqlite.storage_errors import translate_errors
from termvisor.store.sqlite.table import reserve_row_ids

_BACKUP_HINT = "Name a file that `visor db backup` wrote."


def inspect_restore(backup: str, database: str) -> RestoreSummary:
    """Return summaries of the backup and the current database. Raises if the backup cannot be used."""
    _reject_invalid_backup(backup, database)
    with translate_errors(backup):
        if damage := find_file_damage(backup):
            raise StorageError(
                f"the backup {backup} is damaged: {damage}", hint="Nothing was changed. Use another backup."
            )
        return RestoreSummary(
            backup=read_file_contents(backup),
            backup_bytes=os.stat(backup).st_size,
            present=_read_present_contents(database),
        )


def restore_backup(backup: str, database: str, at: int) -> RestoreSummary:
    """Check the backup, copy it, and replace the database with the copy."""
    summary = inspect_restore(backup, database)
    restored = f"{database}.restored"
    with translate_errors(restored):
        _copy_backup(backup, restored)
        _prepare_copy(restored, database)
    with translate_errors(database):
        return msgspec.structs.replace(summary, kept=_swap_databases(restored, database, at))


def _reject_invalid_backup(backup: str, database: str) -> None:
    try:
        header = read_database_header(backup)
    except OSError as error:
        raise BadRequest(f"{backup}: {error.strerror}", hint=_BACKUP_HINT) from error
    if header is None or not header.is_termvisor:
        what = "is missing or empty" if header is None else "is not a Termvisor database"
        raise BadRequest(f"{backup} {what}", hint=_BACKUP_HINT)
    if header.version > find_latest_version():
        raise NewerDatabase(
            f"{backup} has schema {header.version}; this version supports up to {find_latest_version()}"
        )
    if os.path.exists(database) and os.path.samefile(backup, database):
        raise BadRequest(f"{backup} is the database itself", hint=_BACKUP_HINT)
    if os.path.exists(f"{backup}-wal") and os.stat(f"{backup}-wal").st_size:
        raise BadRequest(
            f"{backup} is a database in use, or was copied while in use",
            hint="Use `visor db backup` to make a complete copy.",
        )


def _read_present_contents(database: str) -> DatabaseContents | None:
    if not os.path.exists(database):
        return None
    try:
        with closing(open_connection(database)) as connection:
            _checkpoint_wal(connection)
        return read_file_contents(database)
    except apsw.Error:
        # A damaged database is a common reason to restore, so it is replaced without a summary.
        return None


def _checkpoint_wal(connection: Connection) -> None:
    """Move the write-ahead log into the database; SQLite removes the -wal and -shm files when the connection closes."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _copy_backup(backup: str, restored: str) -> None:
    # Left behind by a restore that was killed; an old -wal file would be applied to the new copy.
    for name in (restored, f"{restored}-wal", f"{restored}-shm"):
        with suppress(FileNotFoundError):
            os.unlink(name)
    with open(backup, "rb") as source, os.fdopen(os.open(restored, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _prepare_copy(restored: str, database: str) -> None:
    """Check the search indexes of the copy and reserve the row ids that the current database assigned."""
    with closing(open_connection(restored)) as connection:
        if damage := find_index_damage(connection):
            raise StorageError(f"the backup is damaged: {'; '.join(damage)}", hint="Nothing was changed.")
        query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
        tables = {str(name) for (name,) in connection.execute(query)}
        last_ids = _read_last_ids(database)
        reserve_row_ids(connection, {table: last_id for table, last_id in last_ids.items() if table in tables})
        _checkpoint_wal(connection)
    fsync_path(restored)


def _read_last_ids(database: str) -> dict[str, int]:
    """Return the last id that the current database assigned in each table."""
    try:
        with closing(open_connection(database)) as connection:
            rows = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
            _checkpoint_wal(connection)
    except apsw.Error:
        # The database is missing or damaged, so there are no ids to reserve.
        return {}
    return dict(cast("list[tuple[str, int]]", rows))


def _swap_databases(restored: str, database: str, at: int) -> str | None:
    kept = _keep_old_database(database, at) if os.path.exists(database) else None
    os.replace(restored, database)
    fsync_path(os.path.dirname(database))
    return kept


def _keep_old_database(database: str, at: int) -> str:
    """Hard-link the current database to a dated name; move the -wal and -shm files of a damaged one with it."""
    stamp = format_timestamp(at)[:19].replace(":", "")
    kept = next(name for name in _list_candidate_names(f"{database}.{stamp}") if not os.path.exists(name))
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.rename(database + suffix, kept + suffix)
    try:
        os.link(database, kept)
    except OSError:
        # The file system has no hard links: between the two renames, there is no database at the path.
        os.rename(database, kept)
    return kept


def _list_candidate_names(name: str) -> list[str]:
    return [name, *(f"{name}.{number}" for number in range(2, 1000))]

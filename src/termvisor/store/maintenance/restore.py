"""Puts a copy in the place of the database, in a process of its own while no daemon runs.

Invariant: whenever it is killed there is a whole database under the old name: the one before, or the copy. The one
before is kept beside it under a dated name and is never deleted. Ids that it gave out are not given again.
"""

import os
import shutil
import sys
from contextlib import closing, suppress
from typing import cast

import apsw
import msgspec

from termvisor.clock import SystemClock, format_timestamp
from termvisor.errors import BadRequest, NewerDatabase, StorageError, VisorError
from termvisor.model.maintenance import DatabaseContents, RestoreSummary
from termvisor.protocol.error_line import format_error
from termvisor.store.maintenance.backup import fsync_path, read_file_contents
from termvisor.store.maintenance.empty_panes import reserve_row_ids
from termvisor.store.maintenance.integrity_check import find_file_damage, find_index_damage
from termvisor.store.sqlite.database import Connection, open_connection
from termvisor.store.sqlite.error_messages import translate_errors
from termvisor.store.sqlite.file_header import read_database_header
from termvisor.store.sqlite.migrations import find_latest_version


def inspect_restore(backup: str, database: str) -> RestoreSummary:
    """What would be put in the place of what; a file that is no whole copy of ours is refused."""
    _reject_invalid_backup(backup, database)
    with translate_errors(backup):
        wrong = find_file_damage(backup)
        if wrong:
            raise StorageError(f"the copy {backup} is damaged: {wrong}", hint="Nothing was changed. Take another copy.")
        return RestoreSummary(
            backup=read_file_contents(backup),
            backup_bytes=os.stat(backup).st_size,
            present=_read_present_contents(database),
        )


def restore_backup(backup: str, database: str, at: int) -> RestoreSummary:
    exchange = inspect_restore(backup, database)
    fresh = f"{database}.restored"
    with translate_errors(fresh):
        _copy_backup(backup, fresh)
        _prepare_copy(fresh, database)
    with translate_errors(database):
        return msgspec.structs.replace(exchange, kept=_swap_databases(fresh, database, at))


def _reject_invalid_backup(backup: str, database: str) -> None:
    try:
        header = read_database_header(backup)
    except OSError as error:
        raise BadRequest(f"{backup}: {error.strerror}", hint="Name a file that `visor db backup` wrote.") from error
    if header is None or not header.is_termvisor:
        what = "there is no copy of a database in" if header is None else "this is not a database of Termvisor:"
        raise BadRequest(f"{what} {backup}", hint="Name a file that `visor db backup` wrote.")
    if header.version > find_latest_version():
        raise NewerDatabase(f"{backup} has schema {header.version}; this version knows {find_latest_version()}")
    if os.path.exists(database) and os.path.samefile(backup, database):
        raise BadRequest(f"{backup} is the database itself", hint="Name a file that `visor db backup` wrote.")
    if os.path.exists(f"{backup}-wal") and os.stat(f"{backup}-wal").st_size:
        raise BadRequest(
            f"{backup} is a database in use, or was copied while it was one",
            hint="`visor db backup` makes a copy that is whole.",
        )


def _read_present_contents(database: str) -> DatabaseContents | None:
    if not os.path.exists(database):
        return None
    try:
        with closing(open_connection(database)) as connection:
            _checkpoint_wal(connection)
        return read_file_contents(database)
    except apsw.Error:
        return None


def _checkpoint_wal(connection: Connection) -> None:
    """Everything into the one file; what stood beside it goes when the connection closes."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _copy_backup(backup: str, fresh: str) -> None:
    for name in (fresh, f"{fresh}-wal", f"{fresh}-shm"):
        with suppress(FileNotFoundError):
            os.unlink(name)
    with open(backup, "rb") as source, os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _prepare_copy(fresh: str, database: str) -> None:
    with closing(open_connection(fresh)) as connection:
        if wrong := find_index_damage(connection):
            raise StorageError(f"the copy is damaged: {'; '.join(wrong)}", hint="Nothing was changed.")
        numbered = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
        known = {str(name) for (name,) in connection.execute(numbered)}
        reserve_row_ids(
            connection, {name: number for name, number in _read_last_ids(database).items() if name in known}
        )
        _checkpoint_wal(connection)
    fsync_path(fresh)


def _read_last_ids(database: str) -> dict[str, int]:
    """The last id that the present database gave out in each table."""
    try:
        with closing(open_connection(database)) as connection:
            rows = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
            _checkpoint_wal(connection)
    except apsw.Error:
        return {}
    return dict(cast("list[tuple[str, int]]", rows))


def _swap_databases(fresh: str, database: str, at: int) -> str | None:
    kept = _keep_old_database(database, at) if os.path.exists(database) else None
    os.replace(fresh, database)
    fsync_path(os.path.dirname(database))
    return kept


def _keep_old_database(database: str, at: int) -> str:
    """A second name for the present database; what a damaged one has beside it goes along."""
    stamp = format_timestamp(at)[:19].replace(":", "")
    kept = next(name for name in _list_candidate_names(f"{database}.{stamp}") if not os.path.exists(name))
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.rename(database + suffix, kept + suffix)
    try:
        os.link(database, kept)
    except OSError:  # a file system without second names
        os.rename(database, kept)
    return kept


def _list_candidate_names(name: str) -> list[str]:
    return [name, *(f"{name}.{number}" for number in range(2, 1000))]


def main() -> None:
    backup, database, *wish = sys.argv[1:]
    try:
        done = inspect_restore(backup, database) if wish else restore_backup(backup, database, SystemClock().now())
    except VisorError as error:
        sys.stderr.write(format_error(error))
        sys.exit(error.exit_status)
    sys.stdout.buffer.write(msgspec.json.encode(done))


if __name__ == "__main__":
    main()

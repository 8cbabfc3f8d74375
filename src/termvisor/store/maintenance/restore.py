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

from termvisor.clock import SystemClock, iso
from termvisor.errors import BadRequest, NewerDatabase, StorageError, VisorError
from termvisor.model.maintenance import Contents, Exchange
from termvisor.protocol.error_line import said
from termvisor.store.maintenance.backup import contents_of, flush
from termvisor.store.maintenance.empty_panes import reserve
from termvisor.store.maintenance.integrity_check import compare_indexes, look
from termvisor.store.sqlite.database import Connection, connect
from termvisor.store.sqlite.error_messages import translated
from termvisor.store.sqlite.file_header import peek
from termvisor.store.sqlite.migrations import latest


def weigh(backup: str, database: str) -> Exchange:
    """What would be put in the place of what; a file that is no whole copy of ours is refused."""
    _refuse_foreign(backup, database)
    with translated(backup):
        wrong = look(backup)
        if wrong:
            raise StorageError(f"the copy {backup} is damaged: {wrong}", hint="Nothing was changed. Take another copy.")
        return Exchange(backup=contents_of(backup), backup_bytes=os.stat(backup).st_size, present=_present(database))


def restore(backup: str, database: str, at: int) -> Exchange:
    exchange = weigh(backup, database)
    fresh = f"{database}.restored"
    with translated(fresh):
        _copy(backup, fresh)
        _make_ready(fresh, database)
    with translated(database):
        return msgspec.structs.replace(exchange, kept=_exchange(fresh, database, at))


def _refuse_foreign(backup: str, database: str) -> None:
    try:
        header = peek(backup)
    except OSError as error:
        raise BadRequest(f"{backup}: {error.strerror}", hint="Name a file that `visor db backup` wrote.") from error
    if header is None or not header.is_ours:
        what = "there is no copy of a database in" if header is None else "this is not a database of Termvisor:"
        raise BadRequest(f"{what} {backup}", hint="Name a file that `visor db backup` wrote.")
    if header.version > latest():
        raise NewerDatabase(f"{backup} has schema {header.version}; this version knows {latest()}")
    if os.path.exists(database) and os.path.samefile(backup, database):
        raise BadRequest(f"{backup} is the database itself", hint="Name a file that `visor db backup` wrote.")
    if os.path.exists(f"{backup}-wal") and os.stat(f"{backup}-wal").st_size:
        raise BadRequest(
            f"{backup} is a database in use, or was copied while it was one",
            hint="`visor db backup` makes a copy that is whole.",
        )


def _present(database: str) -> Contents | None:
    if not os.path.exists(database):
        return None
    try:
        with closing(connect(database)) as connection:
            _merge(connection)
        return contents_of(database)
    except apsw.Error:
        return None


def _merge(connection: Connection) -> None:
    """Everything into the one file; what stood beside it goes when the connection closes."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


def _copy(backup: str, fresh: str) -> None:
    for name in (fresh, f"{fresh}-wal", f"{fresh}-shm"):
        with suppress(FileNotFoundError):
            os.unlink(name)
    with open(backup, "rb") as source, os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def _make_ready(fresh: str, database: str) -> None:
    with closing(connect(fresh)) as connection:
        if wrong := compare_indexes(connection):
            raise StorageError(f"the copy is damaged: {'; '.join(wrong)}", hint="Nothing was changed.")
        numbered = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'"
        known = {str(name) for (name,) in connection.execute(numbered)}
        reserve(connection, {name: number for name, number in _given(database).items() if name in known})
        _merge(connection)
    flush(fresh)


def _given(database: str) -> dict[str, int]:
    """The last id that the present database gave out in each table."""
    try:
        with closing(connect(database)) as connection:
            rows = connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
            _merge(connection)
    except apsw.Error:
        return {}
    return dict(cast("list[tuple[str, int]]", rows))


def _exchange(fresh: str, database: str, at: int) -> str | None:
    kept = _keep(database, at) if os.path.exists(database) else None
    os.replace(fresh, database)
    flush(os.path.dirname(database))
    return kept


def _keep(database: str, at: int) -> str:
    """A second name for the present database; what a damaged one has beside it goes along."""
    stamp = iso(at)[:19].replace(":", "")
    kept = next(name for name in _names(f"{database}.{stamp}") if not os.path.exists(name))
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.rename(database + suffix, kept + suffix)
    try:
        os.link(database, kept)
    except OSError:  # a file system without second names
        os.rename(database, kept)
    return kept


def _names(name: str) -> list[str]:
    return [name, *(f"{name}.{number}" for number in range(2, 1000))]


def main() -> None:
    backup, database, *wish = sys.argv[1:]
    try:
        done = weigh(backup, database) if wish else restore(backup, database, SystemClock().now())
    except VisorError as error:
        sys.stderr.write(said(error))
        sys.exit(error.exit_status)
    sys.stdout.buffer.write(msgspec.json.encode(done))


if __name__ == "__main__":
    main()

"""Apply forward-only schema migrations ``schema/NNNN_name.sql`` in order, each in its own transaction.

A migration that fails leaves the database as it was before it.
"""

import os
import re

import apsw
from msgspec import Struct

MIGRATIONS_DIR = os.path.join(os.path.dirname(__file__), "schema")
_FILE_NAME = re.compile(r"(\d{4})_\w+\.sql")


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
        # Checked inside the transaction: another process may have migrated meanwhile.
        if connection.pragma("user_version") < migration.version:
            with open(migration.path, encoding="utf-8") as file:
                connection.execute(file.read())
            connection.pragma("user_version", migration.version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

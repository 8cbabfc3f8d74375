"""Forward-only changes of the schema: ``migrations/NNNN_name.sql``, each in one transaction, in the order of NNNN.

A migration that fails leaves the database as it was before that migration.
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
    found = (_FILE_NAME.fullmatch(name) for name in os.listdir(folder))
    return sorted(SchemaMigration(int(match[1]), os.path.join(folder, match[0])) for match in found if match)


def find_latest_version(folder: str = MIGRATIONS_DIR) -> int:
    return max(migration.version for migration in list_migrations(folder))


def apply_migrations(connection: apsw.Connection, folder: str = MIGRATIONS_DIR) -> None:
    for migration in list_migrations(folder):
        _apply_migration(connection, migration)


def _apply_migration(connection: apsw.Connection, migration: SchemaMigration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Asked inside the transaction: another process may have migrated meanwhile.
        if connection.pragma("user_version") < migration.version:
            with open(migration.path, encoding="utf-8") as file:
                connection.execute(file.read())
            connection.pragma("user_version", migration.version)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

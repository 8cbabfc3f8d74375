"""Forward-only changes of the schema: ``migrations/NNNN_name.sql``, each in one transaction, in the order of NNNN.

A migration that fails leaves the database as it was before that migration.
"""

import os
import re

import apsw
from msgspec import Struct

FOLDER = os.path.join(os.path.dirname(__file__), "schema")
_NAME = re.compile(r"(\d{4})_\w+\.sql")


class Migration(Struct, frozen=True, order=True):
    version: int
    path: str


def migrations(folder: str = FOLDER) -> list[Migration]:
    found = (_NAME.fullmatch(name) for name in os.listdir(folder))
    return sorted(Migration(int(match[1]), os.path.join(folder, match[0])) for match in found if match)


def latest(folder: str = FOLDER) -> int:
    return max(migration.version for migration in migrations(folder))


def migrate(connection: apsw.Connection, folder: str = FOLDER) -> None:
    for migration in migrations(folder):
        _apply(connection, migration)


def _apply(connection: apsw.Connection, migration: Migration) -> None:
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

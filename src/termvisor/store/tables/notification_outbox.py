"""Notices of events that are owed: each is on disk before anybody is told, and goes once that came to an end.

Invariant: an event becomes notices once. They are stored in one transaction with the cursor that passes it.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import msgspec

from termvisor.model.action.action import Notify
from termvisor.model.action.notification import Owed
from termvisor.model.ids import EventId
from termvisor.store.sqlite.database import Connection, Database

_ACTION = msgspec.json.Decoder(Notify)


class Notices:
    def __init__(self, db: Database):
        self._db = db

    async def cursor(self) -> EventId | None:
        """Up to which event notices were made; None while nobody wants any."""
        found = await self._db.read(lambda connection: connection.execute("SELECT event FROM notice_cursor").get)
        return None if found is None else EventId(cast(int, found))

    async def owe(self, cursor: EventId, owed: Sequence[Owed] = ()) -> None:
        """These, and that events up to the cursor are dealt with."""
        await self._db.write_durably(lambda connection: _owe(connection, cursor, owed))

    async def owed(self) -> list[Owed]:
        """Oldest first."""
        return await self._db.read(_owed)

    async def tried(self, owed: Owed) -> None:
        """About to be told, once more."""
        query = "UPDATE notice SET tries = tries + 1 WHERE id = ?"
        await self._db.write_durably(lambda connection: _run(connection, query, (owed.id,)))

    async def end(self, ended: Iterable[Owed], instead: Sequence[Owed] = ()) -> None:
        """They are owed no longer; these are, in their place."""
        numbers = [(one.id,) for one in ended]
        await self._db.write_durably(lambda connection: _end(connection, numbers, instead))

    async def forget(self) -> None:
        """Nobody wants to be told of events any more."""
        await self._db.write_durably(_forget)


def _owe(connection: Connection, cursor: EventId, owed: Sequence[Owed]) -> None:
    _add(connection, owed)
    query = "INSERT INTO notice_cursor (one, event) VALUES (1, ?) ON CONFLICT DO UPDATE SET event = excluded.event"
    connection.execute(query, (cursor,))


def _add(connection: Connection, owed: Sequence[Owed]) -> None:
    query = "INSERT INTO notice (key, at, action) VALUES (?, ?, ?)"
    connection.executemany(query, [(one.key, one.at, msgspec.json.encode(one.action).decode()) for one in owed])


def _owed(connection: Connection) -> list[Owed]:
    rows = connection.execute("SELECT id, key, at, action, tries FROM notice ORDER BY id")
    return [
        Owed(id=number, key=key, at=at, action=_ACTION.decode(action), tries=tries)
        for number, key, at, action, tries in cast("Iterable[tuple[int, str, int, str, int]]", rows)
    ]


def _run(connection: Connection, query: str, values: tuple[int, ...]) -> None:
    connection.execute(query, values)


def _end(connection: Connection, numbers: list[tuple[int]], instead: Sequence[Owed]) -> None:
    connection.executemany("DELETE FROM notice WHERE id = ?", numbers)
    _add(connection, instead)


def _forget(connection: Connection) -> None:
    connection.execute("DELETE FROM notice")
    connection.execute("DELETE FROM notice_cursor")

"""Notices of events that are owed: each is on disk before anybody is told, and goes once that came to an end.

Invariant: an event becomes notices once. They are stored in one transaction with the cursor that passes it.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import msgspec

from termvisor.model.action.action import Notify
from termvisor.model.action.notification import PendingNotification
from termvisor.model.ids import EventId
from termvisor.store.sqlite.database import Connection, Database

_ACTION_DECODER = msgspec.json.Decoder(Notify)


class NotificationOutbox:
    def __init__(self, db: Database):
        self._db = db

    async def read_cursor(self) -> EventId | None:
        """Up to which event notices were made; None while nobody wants any."""
        found = await self._db.read(lambda connection: connection.execute("SELECT event FROM notice_cursor").get)
        return None if found is None else EventId(cast(int, found))

    async def add_pending(self, cursor: EventId, pending: Sequence[PendingNotification] = ()) -> None:
        """These, and that events up to the cursor are dealt with."""
        await self._db.write_durably(lambda connection: _add_pending(connection, cursor, pending))

    async def list_pending(self) -> list[PendingNotification]:
        """Oldest first."""
        return await self._db.read(_list_pending)

    async def record_attempt(self, pending: PendingNotification) -> None:
        """About to be told, once more."""
        query = "UPDATE notice SET tries = tries + 1 WHERE id = ?"
        await self._db.write_durably(lambda connection: _execute(connection, query, (pending.id,)))

    async def finish(
        self, finished: Iterable[PendingNotification], replacements: Sequence[PendingNotification] = ()
    ) -> None:
        """They are owed no longer; these are, in their place."""
        numbers = [(one.id,) for one in finished]
        await self._db.write_durably(lambda connection: _finish(connection, numbers, replacements))

    async def clear(self) -> None:
        """Nobody wants to be told of events any more."""
        await self._db.write_durably(_clear)


def _add_pending(connection: Connection, cursor: EventId, pending: Sequence[PendingNotification]) -> None:
    _insert_pending(connection, pending)
    query = "INSERT INTO notice_cursor (one, event) VALUES (1, ?) ON CONFLICT DO UPDATE SET event = excluded.event"
    connection.execute(query, (cursor,))


def _insert_pending(connection: Connection, pending: Sequence[PendingNotification]) -> None:
    query = "INSERT INTO notice (key, at, action) VALUES (?, ?, ?)"
    connection.executemany(query, [(one.key, one.at, msgspec.json.encode(one.action).decode()) for one in pending])


def _list_pending(connection: Connection) -> list[PendingNotification]:
    rows = connection.execute("SELECT id, key, at, action, tries FROM notice ORDER BY id")
    return [
        PendingNotification(id=number, key=key, at=at, action=_ACTION_DECODER.decode(action), tries=tries)
        for number, key, at, action, tries in cast("Iterable[tuple[int, str, int, str, int]]", rows)
    ]


def _execute(connection: Connection, query: str, values: tuple[int, ...]) -> None:
    connection.execute(query, values)


def _finish(connection: Connection, numbers: list[tuple[int]], replacements: Sequence[PendingNotification]) -> None:
    connection.executemany("DELETE FROM notice WHERE id = ?", numbers)
    _insert_pending(connection, replacements)


def _clear(connection: Connection) -> None:
    connection.execute("DELETE FROM notice")
    connection.execute("DELETE FROM notice_cursor")

"""Outbox of event notifications: each is on disk before the first delivery attempt and is deleted when finished.

Invariant: an event creates notifications once. They are stored in one transaction with the cursor after the event.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import msgspec

from termvisor.model.action.action import Notify
from termvisor.model.action.notification import PendingNotification
from termvisor.model.ids import EventId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.rows import RowSelector, encode_json

_PENDING = RowSelector(PendingNotification, "notice", decoders={"action": msgspec.json.Decoder(Notify).decode})


class NotificationOutbox:
    def __init__(self, db: Database):
        self._db = db

    async def read_cursor(self) -> EventId | None:
        """Return the last event that was turned into notifications; None while event notifications are off."""
        event = await self._db.read(lambda connection: connection.execute("SELECT event FROM notice_cursor").get)
        return cast("EventId | None", event)

    async def add_pending(self, cursor: EventId, pending: Sequence[PendingNotification] = ()) -> None:
        """Store notifications and the cursor up to which events were processed."""
        await self._db.write_durably(lambda connection: _add_pending(connection, cursor, pending))

    async def list_pending(self) -> list[PendingNotification]:
        """Return all pending notifications, oldest first."""
        return await self._db.read(lambda connection: _PENDING.list(connection, "ORDER BY id"))

    async def record_attempt(self, pending: PendingNotification) -> None:
        """Count a delivery attempt before it is made."""
        query = "UPDATE notice SET tries = tries + 1 WHERE id = ?"
        await self._db.write_durably(lambda connection: connection.execute(query, (pending.id,)).fetchall())

    async def finish(
        self, finished: Iterable[PendingNotification], replacements: Sequence[PendingNotification] = ()
    ) -> None:
        """Delete finished notifications and store their replacements, such as a summary of several."""
        ids = [(pending.id,) for pending in finished]
        await self._db.write_durably(lambda connection: _finish(connection, ids, replacements))

    async def clear(self) -> None:
        """Delete all notifications and the cursor, when event notifications are turned off."""
        await self._db.write_durably(_clear)


def _add_pending(connection: Connection, cursor: EventId, pending: Sequence[PendingNotification]) -> None:
    _insert_pending(connection, pending)
    query = "INSERT INTO notice_cursor (one, event) VALUES (1, ?) ON CONFLICT DO UPDATE SET event = excluded.event"
    connection.execute(query, (cursor,))


def _insert_pending(connection: Connection, pending: Sequence[PendingNotification]) -> None:
    query = "INSERT INTO notice (key, at, action) VALUES (?, ?, ?)"
    connection.executemany(query, [(entry.key, entry.at, encode_json(entry.action)) for entry in pending])


def _finish(connection: Connection, ids: list[tuple[int]], replacements: Sequence[PendingNotification]) -> None:
    connection.executemany("DELETE FROM notice WHERE id = ?", ids)
    _insert_pending(connection, replacements)


def _clear(connection: Connection) -> None:
    connection.execute("DELETE FROM notice")
    connection.execute("DELETE FROM notice_cursor")

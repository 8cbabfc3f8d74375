"""Outbox of event notifications: each is on disk before the first delivery attempt and is deleted when finished.

Invariant: each event creates notifications only once, stored in the same transaction as the cursor after the event.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import msgspec

from termvisor.model.action.action import Notify
from termvisor.model.action.notification import PendingNotification
from termvisor.model.ids import EventId
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import RowSelector, StoreTable, encode_json, run_durable_write, run_read

_PENDING = RowSelector(PendingNotification, "notice", decoders={"action": msgspec.json.Decoder(Notify).decode})


class NotificationOutbox(StoreTable):
    @run_read
    def read_cursor(self, connection: Connection) -> EventId | None:
        """Return the last event that was turned into notifications; None while event notifications are off."""
        return cast("EventId | None", connection.execute("SELECT event FROM notice_cursor").get)

    @run_durable_write
    def add_pending(self, connection: Connection, cursor: EventId, pending: Sequence[PendingNotification] = ()) -> None:
        """Store notifications and the cursor up to which events were processed."""
        _insert_pending(connection, pending)
        query = "INSERT INTO notice_cursor (one, event) VALUES (1, ?) ON CONFLICT DO UPDATE SET event = excluded.event"
        connection.execute(query, (cursor,))

    @run_read
    def list_pending(self, connection: Connection) -> list[PendingNotification]:
        """Return all pending notifications, oldest first."""
        return _PENDING.list(connection, "ORDER BY id")

    @run_durable_write
    def record_attempt(self, connection: Connection, pending: PendingNotification) -> None:
        """Count a delivery attempt before it is made."""
        query = "UPDATE notice SET tries = tries + 1 WHERE id = ?"
        connection.execute(query, (pending.id,)).fetchall()

    @run_durable_write
    def finish(
        self,
        connection: Connection,
        finished: Iterable[PendingNotification],
        replacements: Sequence[PendingNotification] = (),
    ) -> None:
        """Delete finished notifications and store their replacements, such as a summary of several."""
        ids = [(pending.id,) for pending in finished]
        connection.executemany("DELETE FROM notice WHERE id = ?", ids)
        _insert_pending(connection, replacements)

    @run_durable_write
    def clear(self, connection: Connection) -> None:
        """Delete all notifications and the cursor, when event notifications are turned off."""
        connection.execute("DELETE FROM notice")
        connection.execute("DELETE FROM notice_cursor")


def _insert_pending(connection: Connection, pending: Sequence[PendingNotification]) -> None:
    query = "INSERT INTO notice (key, at, action) VALUES (?, ?, ?)"
    connection.executemany(query, [(entry.key, entry.at, encode_json(entry.action)) for entry in pending])

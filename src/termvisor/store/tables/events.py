"""Event log. Ids only increase and serve as cursors of the event stream; a cursor out of range raises InvalidCursor."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from termvisor.errors import InvalidCursor
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId, PaneId
from termvisor.store.sqlite import table
from termvisor.store.sqlite.database import Connection

_EVENTS = table.RowSelector(Event, "event", decoders={"data": msgspec.json.Decoder(dict[str, Scalar]).decode})


class EventTable(table.StoreTable):
    @table.run_write
    def add(self, connection: Connection, events: Sequence[Event]) -> list[Event]:
        """Store events in one transaction; return them with their ids."""
        return [add_event(connection, event) for event in events]

    @table.run_read
    def list(
        self,
        connection: Connection,
        *,
        after: int | None = None,
        pane: PaneId | None = None,
        since: int | None = None,
        kind: str | None = None,
        limit: int = 20,
    ) -> list[Event]:
        """Return events, oldest first: with ``after`` the first ones after that cursor, else the newest.

        Raises InvalidCursor if events after the cursor were deleted or it was never assigned.
        """
        conditions = {"id > ?": after, "pane = ?": pane, "at >= ?": since, "kind = ?": kind}
        if after is not None:
            _check_cursor(connection, after)
        where, values = table.build_where(conditions)
        # With a time filter alone, ordering by time lets SQLite use the index on it instead of scanning all ids.
        order = "id" if after is not None else "at DESC, id DESC" if where == "at >= ?" else "id DESC"
        events = _EVENTS.list(connection, f"WHERE {where} ORDER BY {order} LIMIT ?", (*values, max(0, limit)))
        return sorted(events, key=lambda event: event.id)

    @table.run_read
    def find_newest_id(self, connection: Connection) -> int:
        """Return the newest id ever assigned; 0 if there is none."""
        return table.read_last_id(connection, "event")


def add_event(connection: Connection, event: Event) -> Event:
    """Store an event inside the caller's transaction; return it with its id."""
    row = (event.at, event.kind, event.pane, table.encode_json(event.data))
    connection.execute("INSERT INTO event (at, kind, pane, data) VALUES (?, ?, ?, ?)", row)
    return replace(event, id=EventId(connection.last_insert_rowid()))


def _check_cursor(connection: Connection, after: int) -> None:
    newest = table.read_last_id(connection, "event")
    first: int | None = connection.execute("SELECT id FROM event ORDER BY id LIMIT 1").get
    oldest = newest if first is None else first - 1
    if not oldest <= after <= newest:
        raise InvalidCursor(
            f"cursor {after} is not between {oldest} and {newest}",
            details={"oldest": str(oldest), "newest": str(newest)},
        )

"""Event log. Ids rise strictly and serve as cursors of the event stream; a cursor out of range raises InvalidCursor."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import InvalidCursor
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId, PaneId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.row_ids import read_last_id
from termvisor.store.sqlite.rows import build_where, encode_json

_SELECT_EVENT = "SELECT id, at, kind, pane, data FROM event"
_DATA_DECODER = msgspec.json.Decoder(dict[str, Scalar])


class EventTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, events: Sequence[Event]) -> list[Event]:
        """Store events in one transaction; return them with their ids."""
        return await self._db.write(lambda connection: [add_event(connection, event) for event in events])

    async def list(
        self,
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
        return await self._db.read(lambda connection: _list_events(connection, after, conditions, limit))

    async def find_newest_id(self) -> int:
        """Return the newest id ever assigned; 0 before the first."""
        return await self._db.read(lambda connection: read_last_id(connection, "event"))


def add_event(connection: Connection, event: Event) -> Event:
    """Store an event inside the caller's transaction; return it with its id."""
    row = (event.at, event.kind, event.pane, encode_json(event.data))
    connection.execute("INSERT INTO event (at, kind, pane, data) VALUES (?, ?, ?, ?)", row)
    return replace(event, id=EventId(connection.last_insert_rowid()))


def _list_events(
    connection: Connection, after: int | None, conditions: Mapping[str, object], limit: int
) -> list[Event]:
    if after is not None:
        _check_cursor(connection, after)
    where, values = build_where(conditions)
    # With a time filter alone, ordering by time lets SQLite use the index on it instead of scanning all ids.
    order = "id" if after is not None else "at DESC, id DESC" if where == "at >= ?" else "id DESC"
    rows = connection.execute(
        f"{_SELECT_EVENT} WHERE {where} ORDER BY {order} LIMIT ?", (*values, max(0, limit))
    ).fetchall()
    return [_build_event(row) for row in sorted(rows, key=itemgetter(0))]


def _check_cursor(connection: Connection, after: int) -> None:
    newest = read_last_id(connection, "event")
    first: int | None = connection.execute("SELECT id FROM event ORDER BY id LIMIT 1").get
    oldest = newest if first is None else first - 1
    if not oldest <= after <= newest:
        raise InvalidCursor(
            f"cursor {after} is not between {oldest} and {newest}", details={"oldest": oldest, "newest": newest}
        )


def _build_event(row: tuple[Any, ...]) -> Event:
    event, at, kind, pane, data = row
    return Event(id=event, at=at, kind=kind, pane=pane, data=_DATA_DECODER.decode(data))

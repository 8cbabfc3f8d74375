"""Stored facts. Their ids rise strictly and are the cursor of the stream; a cursor that cannot be served is refused."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import InvalidCursor
from termvisor.model.event import Event, Scalar
from termvisor.model.ids import EventId, PaneId
from termvisor.store.sqlite.database import Connection, Database

_SELECT_EVENT = "SELECT id, at, kind, pane, data FROM event"
_DATA_DECODER = msgspec.json.Decoder(dict[str, Scalar])


class EventTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, events: Sequence[Event]) -> list[Event]:
        """Store them at once, in a transaction of their own; the same events with their ids."""
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
        """Oldest first: with ``after`` the first ones beyond that cursor, else the newest."""
        return await self._db.read(
            lambda connection: _list_events(connection, after, _EventFilter(pane, since, kind), limit)
        )

    async def find_newest_id(self) -> int:
        """The newest id that was ever given; 0 before the first."""
        return await self._db.read(_find_newest_id)


class _EventFilter(msgspec.Struct, frozen=True):
    pane: PaneId | None
    since: int | None
    kind: str | None


def add_event(connection: Connection, event: Event) -> Event:
    row = (event.at, event.kind, event.pane, msgspec.json.encode(event.data).decode())
    connection.execute("INSERT INTO event (at, kind, pane, data) VALUES (?, ?, ?, ?)", row)
    return replace(event, id=EventId(connection.last_insert_rowid()))


def _list_events(connection: Connection, after: int | None, filters: _EventFilter, limit: int) -> list[Event]:
    if after is not None:
        _check_cursor(connection, after)
    conditions = {"id > ?": after, "pane = ?": filters.pane, "at >= ?": filters.since, "kind = ?": filters.kind}
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = " AND ".join(given) or "TRUE"
    order = "id" if after is not None else "at DESC, id DESC" if list(given) == ["at >= ?"] else "id DESC"
    rows = connection.execute(
        f"{_SELECT_EVENT} WHERE {where} ORDER BY {order} LIMIT ?", (*given.values(), max(0, limit))
    ).fetchall()
    return [_build_event(row) for row in sorted(rows, key=itemgetter(0))]


def _check_cursor(connection: Connection, after: int) -> None:
    newest = _find_newest_id(connection)
    found = connection.execute("SELECT id FROM event ORDER BY id LIMIT 1").fetchone()
    oldest = int(found[0]) - 1 if found else newest
    if not oldest <= after <= newest:
        raise InvalidCursor(
            f"cursor {after} is not between {oldest} and {newest}", details={"oldest": oldest, "newest": newest}
        )


def _find_newest_id(connection: Connection) -> int:
    # Not max(id): the newest events may have been deleted, and their ids are not given again.
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'event'").fetchone()
    return int(found[0]) if found else 0


def _build_event(row: tuple[Any, ...]) -> Event:
    event, at, kind, pane, data = row
    return Event(id=event, at=at, kind=kind, pane=pane, data=_DATA_DECODER.decode(data))

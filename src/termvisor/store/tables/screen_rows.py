"""What repainting screens showed: each row once a life, and the screens in which something new stood.

Invariant: a row is there once for each fold of its epoch, whoever stores it and after whatever crash; a screen and the
sightings that were new in it are stored in one transaction, and none of its rows was last seen before it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.event import Event
from termvisor.model.ids import PaneId, ScreenId, SightingId
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.screen_row import Glance, Row
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import storable
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.pipeline_commit import SHELF, shelved

_SCREEN = "SELECT id, pane, at, width, height, cursor_x, cursor_y, is_alternate, rows FROM screen"
_NOTE_TIMES = (
    "INSERT INTO sighting_time VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
    " SET at = min(at, excluded.at), until = max(until, excluded.until)"
)
_Kept = int | str | None
_ROWS = msgspec.msgpack.Decoder(list[_Kept])


class Stored(Struct, frozen=True):
    """A glance as it was stored: its rows with their ids, its screen, where it had something new, and its events."""

    rows: tuple[Row, ...]
    screen: ScreenId | None
    events: tuple[Event, ...] = ()


class Sightings:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, glances: Sequence[Glance]) -> list[Stored]:
        """Store what is new in them."""
        return await self._db.write(lambda connection: [_add(connection, glance) for glance in glances])

    async def seen(self, times: Mapping[SightingId, int]) -> None:
        """Sightings were shown again, last at these times."""
        await self._db.write(lambda connection: _seen(connection, times))

    async def screen_at(self, pane: PaneId, at: int) -> Screen | None:
        """The stored screen of the pane that is nearest to this time, at it or before."""
        where = "WHERE pane = ? AND at <= ? ORDER BY at DESC, id DESC LIMIT 1"
        return await self._db.read(lambda connection: _screen(connection, where, pane, at))

    async def screen(self, number: ScreenId) -> Screen | None:
        return await self._db.read(lambda connection: screen_numbered(connection, number))

    async def newest_at(self, pane: PaneId) -> int:
        """When a row was seen that had not been there before; 0 where there is none."""
        query = "SELECT first_at FROM sighting WHERE pane = ? ORDER BY id DESC LIMIT 1"
        return await self._db.read(lambda connection: int(connection.execute(query, (pane,)).get or 0))

    async def count(self, pane: PaneId) -> int:
        """How many sightings a pane has."""
        query = "SELECT count(*) FROM sighting WHERE pane = ?"
        return await self._db.read(lambda connection: int(connection.execute(query, (pane,)).get))


def screen_numbered(connection: Connection, screen: ScreenId) -> Screen | None:
    return _screen(connection, "WHERE id = ?", screen)


def _add(connection: Connection, glance: Glance) -> Stored:
    rows = tuple(_known(connection, glance, row) for row in glance.rows)
    new = {row.fold: row for row in reversed(rows) if _is_new(row)}
    if not new:
        return Stored(rows, None)
    screen = _next_id(connection, "screen")
    ids = _add_new(connection, glance, list(reversed(new.values())), screen)
    rows = tuple(replace(row, id=ids[row.fold]) if _is_new(row) else row for row in rows)
    _add_screen(connection, screen, glance.screen, rows)
    _seen(connection, {row.id: glance.screen.at for row in rows if row.id})
    return Stored(rows, screen, _detected(connection, glance, ids, screen))


def _detected(
    connection: Connection, glance: Glance, ids: dict[int, SightingId], screen: ScreenId
) -> tuple[Event, ...]:
    """What was found in rows that are new; what a row said that is known, was told when it was new."""
    found = [
        replace(one, evidence=one.evidence | {"screen": screen, "sighting": ids[fold]})
        for fold, one in glance.found
        if fold in ids
    ]
    return tuple(add_detections(connection, found))


def _is_new(row: Row) -> bool:
    return row.kind == "sighting" and not row.id and bool(row.text)


def _known(connection: Connection, glance: Glance, row: Row) -> Row:
    """The row with its id, where an earlier look of this life stored it."""
    if not _is_new(row):
        return row
    query = "SELECT id FROM sighting WHERE epoch = ? AND fold = ?"
    found = connection.execute(query, (glance.epoch, row.fold)).fetchone()
    return replace(row, id=SightingId(found[0])) if found else row


def _add_new(connection: Connection, glance: Glance, new: list[Row], screen: ScreenId) -> dict[int, SightingId]:
    pane, at = glance.screen.pane, glance.screen.at
    first = _next_id(connection, "sighting")
    numbered = [(number, storable(row.text), row.fold) for number, row in enumerate(new, first)]
    connection.executemany(
        "INSERT INTO sighting VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, pane, glance.epoch, fold, screen, at, at, text) for number, text, fold in numbered],
    )
    connection.executemany(
        "INSERT INTO sighting_fts (rowid, text, pane) VALUES (?, ?, ?)",
        [(number, text, pane) for number, text, _ in numbered],
    )
    return {fold: SightingId(number) for number, _, fold in numbered}


def _next_id(connection: Connection, table: str) -> Any:
    """Beyond every id that was ever given, also to rows that are deleted by now."""
    return connection.execute("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = ?", (table,)).get


def _add_screen(connection: Connection, number: ScreenId, screen: Screen, rows: Sequence[Row]) -> None:
    texts = _texts(connection, [row.id for row in rows if row.id])
    kept = [_kept(row, texts) for row in rows]
    while kept and kept[-1] == 0:
        kept.pop()
    size = (screen.width, screen.height, screen.cursor_x, screen.cursor_y, screen.alternate)
    connection.execute(
        "INSERT INTO screen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, screen.pane, screen.at, *size, msgspec.msgpack.encode(kept)),
    )


def _kept(row: Row, texts: Mapping[int, str]) -> _Kept:
    if row.kind == "input":
        return None
    if not row.text:
        return 0
    text = storable(row.text)
    return row.id if texts.get(row.id) == text else text


def _texts(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    wanted = msgspec.json.encode(ids).decode()
    return dict(
        connection.execute("SELECT id, text FROM sighting WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
    )


def _seen(connection: Connection, times: Mapping[SightingId, int]) -> None:
    connection.executemany(
        "UPDATE sighting SET last_at = max(last_at, ?) WHERE id = ?", [(at, number) for number, at in times.items()]
    )
    shelves = shelved((number >> SHELF, at, at) for number, at in times.items())
    connection.executemany(_NOTE_TIMES, shelves)


def _screen(connection: Connection, where: str, *values: int) -> Screen | None:
    found = connection.execute(f"{_SCREEN} {where}", values).fetchone()
    if found is None:
        return None
    number, pane, at, width, height, x, y, is_alternate, data = found
    kept = _ROWS.decode(data)
    texts = _texts(connection, [row for row in kept if isinstance(row, int) and row])
    return Screen(
        pane=pane,
        rows=tuple(_text(row, texts) for row in kept),
        width=width,
        height=height,
        cursor_x=x,
        cursor_y=y,
        alternate=bool(is_alternate),
        at=at,
        id=number,
        left_out=tuple(index for index, row in enumerate(kept) if row is None),
    )


def _text(row: _Kept, texts: Mapping[int, str]) -> str:
    return row if isinstance(row, str) else texts.get(row or 0, "")

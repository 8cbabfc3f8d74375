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
from termvisor.model.terminal.screen_row import CapturedScreen, ScreenRow
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import replace_surrogates
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.pipeline_commit import TIME_BUCKET_BITS, merge_time_buckets

_SELECT_SCREEN = "SELECT id, pane, at, width, height, cursor_x, cursor_y, is_alternate, rows FROM screen"
_UPSERT_TIME_BUCKET = (
    "INSERT INTO sighting_time VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
    " SET at = min(at, excluded.at), until = max(until, excluded.until)"
)
_EncodedRow = int | str | None
_ROWS_DECODER = msgspec.msgpack.Decoder(list[_EncodedRow])


class StoredScreen(Struct, frozen=True):
    """A glance as it was stored: its rows with their ids, its screen, where it had something new, and its events."""

    rows: tuple[ScreenRow, ...]
    screen: ScreenId | None
    events: tuple[Event, ...] = ()


class SightingTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, captures: Sequence[CapturedScreen]) -> list[StoredScreen]:
        """Store what is new in them."""
        return await self._db.write(lambda connection: [_add_capture(connection, glance) for glance in captures])

    async def record_last_seen(self, times: Mapping[SightingId, int]) -> None:
        """Sightings were shown again, last at these times."""
        await self._db.write(lambda connection: _update_last_seen(connection, times))

    async def find_screen_at(self, pane: PaneId, at: int) -> Screen | None:
        """The stored screen of the pane that is nearest to this time, at it or before."""
        where = "WHERE pane = ? AND at <= ? ORDER BY at DESC, id DESC LIMIT 1"
        return await self._db.read(lambda connection: _select_screen(connection, where, pane, at))

    async def find_screen(self, number: ScreenId) -> Screen | None:
        return await self._db.read(lambda connection: read_screen(connection, number))

    async def find_newest_time(self, pane: PaneId) -> int:
        """When a row was seen that had not been there before; 0 where there is none."""
        query = "SELECT first_at FROM sighting WHERE pane = ? ORDER BY id DESC LIMIT 1"
        return await self._db.read(lambda connection: int(connection.execute(query, (pane,)).get or 0))

    async def count_sightings(self, pane: PaneId) -> int:
        """How many sightings a pane has."""
        query = "SELECT count(*) FROM sighting WHERE pane = ?"
        return await self._db.read(lambda connection: int(connection.execute(query, (pane,)).get))


def read_screen(connection: Connection, screen: ScreenId) -> Screen | None:
    return _select_screen(connection, "WHERE id = ?", screen)


def _add_capture(connection: Connection, capture: CapturedScreen) -> StoredScreen:
    rows = tuple(_find_known_row(connection, capture, row) for row in capture.rows)
    new = {row.fold: row for row in reversed(rows) if _is_new(row)}
    if not new:
        return StoredScreen(rows, None)
    screen = _find_next_id(connection, "screen")
    ids = _add_new_rows(connection, capture, list(reversed(new.values())), screen)
    rows = tuple(replace(row, id=ids[row.fold]) if _is_new(row) else row for row in rows)
    _add_screen(connection, screen, capture.screen, rows)
    _update_last_seen(connection, {row.id: capture.screen.at for row in rows if row.id})
    return StoredScreen(rows, screen, _add_row_detections(connection, capture, ids, screen))


def _add_row_detections(
    connection: Connection, capture: CapturedScreen, ids: dict[int, SightingId], screen: ScreenId
) -> tuple[Event, ...]:
    """What was found in rows that are new; what a row said that is known, was told when it was new."""
    found = [
        replace(one, evidence=one.evidence | {"screen": screen, "sighting": ids[fold]})
        for fold, one in capture.found
        if fold in ids
    ]
    return tuple(add_detections(connection, found))


def _is_new(row: ScreenRow) -> bool:
    return row.kind == "sighting" and not row.id and bool(row.text)


def _find_known_row(connection: Connection, capture: CapturedScreen, row: ScreenRow) -> ScreenRow:
    """The row with its id, where an earlier look of this life stored it."""
    if not _is_new(row):
        return row
    query = "SELECT id FROM sighting WHERE epoch = ? AND fold = ?"
    found = connection.execute(query, (capture.epoch, row.fold)).fetchone()
    return replace(row, id=SightingId(found[0])) if found else row


def _add_new_rows(
    connection: Connection, capture: CapturedScreen, new: list[ScreenRow], screen: ScreenId
) -> dict[int, SightingId]:
    pane, at = capture.screen.pane, capture.screen.at
    first = _find_next_id(connection, "sighting")
    numbered = [(number, replace_surrogates(row.text), row.fold) for number, row in enumerate(new, first)]
    connection.executemany(
        "INSERT INTO sighting VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, pane, capture.epoch, fold, screen, at, at, text) for number, text, fold in numbered],
    )
    connection.executemany(
        "INSERT INTO sighting_fts (rowid, text, pane) VALUES (?, ?, ?)",
        [(number, text, pane) for number, text, _ in numbered],
    )
    return {fold: SightingId(number) for number, _, fold in numbered}


def _find_next_id(connection: Connection, table: str) -> Any:
    """Beyond every id that was ever given, also to rows that are deleted by now."""
    return connection.execute("SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = ?", (table,)).get


def _add_screen(connection: Connection, number: ScreenId, screen: Screen, rows: Sequence[ScreenRow]) -> None:
    texts = _read_row_texts(connection, [row.id for row in rows if row.id])
    kept = [_encode_row(row, texts) for row in rows]
    while kept and kept[-1] == 0:
        kept.pop()
    size = (screen.width, screen.height, screen.cursor_x, screen.cursor_y, screen.alternate)
    connection.execute(
        "INSERT INTO screen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, screen.pane, screen.at, *size, msgspec.msgpack.encode(kept)),
    )


def _encode_row(row: ScreenRow, texts: Mapping[int, str]) -> _EncodedRow:
    if row.kind == "input":
        return None
    if not row.text:
        return 0
    text = replace_surrogates(row.text)
    return row.id if texts.get(row.id) == text else text


def _read_row_texts(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    wanted = msgspec.json.encode(ids).decode()
    return dict(
        connection.execute("SELECT id, text FROM sighting WHERE id IN (SELECT value FROM json_each(?))", (wanted,))
    )


def _update_last_seen(connection: Connection, times: Mapping[SightingId, int]) -> None:
    connection.executemany(
        "UPDATE sighting SET last_at = max(last_at, ?) WHERE id = ?", [(at, number) for number, at in times.items()]
    )
    shelves = merge_time_buckets((number >> TIME_BUCKET_BITS, at, at) for number, at in times.items())
    connection.executemany(_UPSERT_TIME_BUCKET, shelves)


def _select_screen(connection: Connection, where: str, *values: int) -> Screen | None:
    found = connection.execute(f"{_SELECT_SCREEN} {where}", values).fetchone()
    if found is None:
        return None
    number, pane, at, width, height, x, y, is_alternate, data = found
    kept = _ROWS_DECODER.decode(data)
    texts = _read_row_texts(connection, [row for row in kept if isinstance(row, int) and row])
    return Screen(
        pane=pane,
        rows=tuple(_decode_row(row, texts) for row in kept),
        width=width,
        height=height,
        cursor_x=x,
        cursor_y=y,
        alternate=bool(is_alternate),
        at=at,
        id=number,
        left_out=tuple(index for index, row in enumerate(kept) if row is None),
    )


def _decode_row(row: _EncodedRow, texts: Mapping[int, str]) -> str:
    return row if isinstance(row, str) else texts.get(row or 0, "")

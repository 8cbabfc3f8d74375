"""Store each row of full-screen programs once (as a sighting), the screens in which new rows or rule matches appeared,
and for each epoch the screen that the pane showed when its capture began.

Invariant: an epoch has one row for each fold, even if a screen is stored again after a crash. A screen and its new
rows are stored in one transaction, and the last time of every row on a screen is at least the screen's time.
"""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId, ScreenId, SightingId
from termvisor.model.terminal.screen import CapturedScreen, Screen, ScreenRow
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import StoreTable, encode_json, read_last_id, replace_surrogates, run_read, run_write
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.indexed_table import SIGHTINGS

_SELECT_SCREEN = "SELECT id, pane, at, width, height, cursor_x, cursor_y, is_alternate, rows FROM screen"
# A row of a stored screen: id of a sighting with that text, the text itself, 0 if empty, None for the input area.
_EncodedRow = int | str | None
_ROWS_DECODER = msgspec.msgpack.Decoder(list[_EncodedRow])


class StoredScreen(Struct, frozen=True):
    """Result of storing a capture: its rows with ids, its screen if it is stored, and the events of detections."""

    rows: tuple[ScreenRow, ...]
    screen: ScreenId | None
    events: tuple[Event, ...] = ()


class SightingTable(StoreTable):
    @run_write
    def add(self, connection: Connection, captures: Sequence[CapturedScreen]) -> list[StoredScreen]:
        """Store the new rows of captured screens."""
        return [_add_capture(connection, capture) for capture in captures]

    @run_write
    def record_last_seen(self, connection: Connection, times: Mapping[SightingId, int]) -> None:
        """Update the last times at which rows were visible."""
        _update_last_seen(connection, times)

    @run_read
    def read_shown_matches(self, connection: Connection, epoch: EpochId) -> bytes:
        """Return the shown matches stored with the last sample of an epoch; empty if there are none."""
        return connection.execute("SELECT shown_matches FROM epoch WHERE id = ?", (epoch,)).get or b""

    @run_read
    def find_screen_at(self, connection: Connection, pane: PaneId, at: int) -> Screen | None:
        """Return the last screen of a pane stored at or before this time."""
        where = "WHERE pane = ? AND at <= ? ORDER BY at DESC, id DESC LIMIT 1"
        return _select_screen(connection, where, pane, at)

    @run_read
    def find_screen(self, connection: Connection, number: ScreenId) -> Screen | None:
        return read_screen(connection, number)

    @run_read
    def find_newest_time(self, connection: Connection, pane: PaneId) -> int:
        """Return when the newest row of a pane was first seen; 0 if there is none."""
        query = "SELECT first_at FROM sighting WHERE pane = ? ORDER BY id DESC LIMIT 1"
        return int(connection.execute(query, (pane,)).get or 0)


def read_screen(connection: Connection, screen: ScreenId) -> Screen | None:
    return _select_screen(connection, "WHERE id = ?", screen)


def _add_capture(connection: Connection, capture: CapturedScreen) -> StoredScreen:
    rows = tuple(_find_known_row(connection, capture, row) for row in capture.rows)
    new = {row.fold: row for row in reversed(rows) if _is_new(row)}
    if capture.shown_matches is not None:
        query = "UPDATE epoch SET shown_matches = ? WHERE id = ?"
        connection.execute(query, (capture.shown_matches, capture.epoch))
    if not new and not capture.found:
        return StoredScreen(rows, None)
    # Assigned before the screen is stored, because its new rows refer to it.
    screen = ScreenId(read_last_id(connection, "screen") + 1)
    ids = _add_new_rows(connection, capture, list(reversed(new.values())), screen)
    rows = tuple(replace(row, id=ids[row.fold]) if _is_new(row) else row for row in rows)
    _add_screen(connection, screen, capture.screen, rows)
    _update_last_seen(connection, {row.id: capture.screen.at for row in rows if row.id})
    return StoredScreen(rows, screen, _add_row_detections(connection, capture, rows, screen))


def _add_row_detections(
    connection: Connection, capture: CapturedScreen, rows: Sequence[ScreenRow], screen: ScreenId
) -> tuple[Event, ...]:
    ids = {row.fold: row.id for row in rows}
    found = [
        replace(detection, evidence=detection.evidence | {"screen": screen, "sighting": ids[fold]})
        for fold, detection in capture.found
    ]
    return tuple(add_detections(connection, found))


def _is_new(row: ScreenRow) -> bool:
    return row.kind == "sighting" and not row.id and bool(row.text)


def _find_known_row(connection: Connection, capture: CapturedScreen, row: ScreenRow) -> ScreenRow:
    """Return the row with its id if an earlier capture of the epoch stored it."""
    if not _is_new(row):
        return row
    query = "SELECT id FROM sighting WHERE epoch = ? AND fold = ?"
    sighting: SightingId | None = connection.execute(query, (capture.epoch, row.fold)).get
    return row if sighting is None else replace(row, id=sighting)


def _add_new_rows(
    connection: Connection, capture: CapturedScreen, new: list[ScreenRow], screen: ScreenId
) -> dict[int, SightingId]:
    pane, at = capture.screen.pane, capture.screen.at
    first_id = read_last_id(connection, "sighting") + 1
    numbered = [(number, replace_surrogates(row.text), row.fold) for number, row in enumerate(new, first_id)]
    connection.executemany(
        "INSERT INTO sighting VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(number, pane, capture.epoch, fold, screen, at, at, text) for number, text, fold in numbered],
    )
    SIGHTINGS.add_texts(connection, [(number, text, pane) for number, text, _ in numbered])
    return {fold: SightingId(number) for number, _, fold in numbered}


def _add_screen(connection: Connection, number: ScreenId, screen: Screen, rows: Sequence[ScreenRow]) -> None:
    texts = _read_row_texts(connection, [row.id for row in rows if row.id])
    encoded = [_encode_row(row, texts) for row in rows]
    while encoded and encoded[-1] == 0:
        encoded.pop()
    size = (screen.width, screen.height, screen.cursor_x, screen.cursor_y, screen.alternate)
    connection.execute(
        "INSERT INTO screen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (number, screen.pane, screen.at, *size, msgspec.msgpack.encode(encoded)),
    )


def _encode_row(row: ScreenRow, texts: Mapping[int, str]) -> _EncodedRow:
    if row.kind == "input":
        return None
    if not row.text:
        return 0
    text = replace_surrogates(row.text)
    return row.id if texts.get(row.id) == text else text


def _read_row_texts(connection: Connection, ids: Sequence[int]) -> dict[int, str]:
    query = "SELECT id, text FROM sighting WHERE id IN (SELECT value FROM json_each(?))"
    return dict(connection.execute(query, (encode_json(ids),)))


def _update_last_seen(connection: Connection, times: Mapping[SightingId, int]) -> None:
    connection.executemany(
        "UPDATE sighting SET last_at = max(last_at, ?) WHERE id = ?", [(at, number) for number, at in times.items()]
    )
    SIGHTINGS.extend_times(connection, ((number, at, at) for number, at in times.items()))


def _select_screen(connection: Connection, where: str, *values: int) -> Screen | None:
    stored = connection.execute(f"{_SELECT_SCREEN} {where}", values).fetchone()
    if stored is None:
        return None
    number, pane, at, width, height, x, y, is_alternate, data = stored
    rows = _ROWS_DECODER.decode(data)
    texts = _read_row_texts(connection, [row for row in rows if isinstance(row, int)])
    return Screen(
        pane=pane,
        rows=tuple(row if isinstance(row, str) else texts.get(row or 0, "") for row in rows),
        width=width,
        height=height,
        cursor_x=x,
        cursor_y=y,
        alternate=bool(is_alternate),
        at=at,
        id=number,
        left_out=tuple(index for index, row in enumerate(rows) if row is None),
    )


class BaselineScreenTable(StoreTable):
    @run_write
    def save(self, connection: Connection, epoch: EpochId, screen: Screen) -> None:
        """Store the baseline screen of an epoch; its rows must be redacted."""
        place = (screen.width, screen.height, screen.cursor_x, screen.cursor_y, screen.alternate)
        text = replace_surrogates("\n".join(row.replace("\n", " ") for row in screen.rows))
        connection.execute(
            "INSERT OR REPLACE INTO first_screen VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (epoch, screen.pane, screen.at, *place, text),
        )

    @run_read
    def find_by_pane(self, connection: Connection, pane: PaneId) -> dict[EpochId, Screen]:
        stored = connection.execute(
            "SELECT epoch, at, width, height, cursor_x, cursor_y, is_alternate, rows FROM first_screen WHERE pane = ?",
            (pane,),
        )
        return {
            epoch: Screen(
                pane=pane,
                rows=tuple(rows.split("\n")),
                width=width,
                height=height,
                cursor_x=x,
                cursor_y=y,
                alternate=bool(is_alternate),
                at=at,
            )
            for epoch, at, width, height, x, y, is_alternate, rows in stored
        }

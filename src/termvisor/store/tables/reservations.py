"""Who has a pane for themselves, and until when. A pane has at most one holder at a time."""

from typing import Any

from msgspec.structs import replace

from termvisor.model.action.approval import Reservation
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database

_RESERVATION = "SELECT id, pane, owner, at, expires_at, released_at FROM reservation"
_HOLDS = "released_at IS NULL AND expires_at > ?"


class Reservations:
    def __init__(self, db: Database):
        self._db = db
        self._last_end: int | None = None
        """When the last of all ends: from then on nobody needs to be asked. None before the first look."""

    async def hold(self, wanted: Reservation) -> Reservation:
        """The reservation that holds now: the wanted one, longer if its owner had it already, or somebody else's."""
        held = await self._db.write(lambda connection: _hold(connection, wanted))
        self._last_end = max(self._last_end or 0, held.expires_at)
        return held

    async def release(self, number: int, at: int) -> bool:
        """Whether there was one to release."""
        return await self._db.write(lambda connection: _release(connection, number, at))

    async def list(self, at: int) -> list[Reservation]:
        return await self._db.read(
            lambda connection: [
                _reservation(row) for row in connection.execute(f"{_RESERVATION} WHERE {_HOLDS} ORDER BY id", (at,))
            ]
        )

    async def of(self, pane: PaneId, at: int) -> Reservation | None:
        """Who holds the pane."""
        if self._last_end is None:
            stored = await self._db.read(_last_end)
            self._last_end = max(self._last_end or 0, stored)
        if at >= self._last_end:
            return None
        return await self._db.read(lambda connection: _of(connection, pane, at))


def _hold(connection: Connection, wanted: Reservation) -> Reservation:
    held = _of(connection, wanted.pane, wanted.at)
    if held is None:
        connection.execute(
            "INSERT INTO reservation (pane, owner, at, expires_at) VALUES (?, ?, ?, ?)",
            (wanted.pane, wanted.owner, wanted.at, wanted.expires_at),
        )
        return replace(wanted, id=connection.last_insert_rowid())
    if held.owner != wanted.owner:
        return held
    until = max(held.expires_at, wanted.expires_at)
    connection.execute("UPDATE reservation SET expires_at = ? WHERE id = ?", (until, held.id))
    return replace(held, expires_at=until)


def _release(connection: Connection, number: int, at: int) -> bool:
    connection.execute(f"UPDATE reservation SET released_at = ? WHERE id = ? AND {_HOLDS}", (at, number, at))
    return bool(connection.changes())


def _of(connection: Connection, pane: PaneId, at: int) -> Reservation | None:
    row = connection.execute(
        f"{_RESERVATION} WHERE pane = ? AND {_HOLDS} ORDER BY id DESC LIMIT 1", (pane, at)
    ).fetchone()
    return _reservation(row) if row else None


def _last_end(connection: Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(expires_at), 0) FROM reservation").get)


def _reservation(row: tuple[Any, ...]) -> Reservation:
    number, pane, owner, at, expires_at, released_at = row
    return Reservation(id=number, pane=PaneId(pane), owner=owner, at=at, expires_at=expires_at, released_at=released_at)

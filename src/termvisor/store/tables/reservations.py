"""Who has a pane for themselves, and until when. A pane has at most one holder at a time."""

from typing import Any

from msgspec.structs import replace

from termvisor.model.action.approval import Reservation
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database

_SELECT_RESERVATION = "SELECT id, pane, owner, at, expires_at, released_at FROM reservation"
_IS_ACTIVE = "released_at IS NULL AND expires_at > ?"


class ReservationTable:
    def __init__(self, db: Database):
        self._db = db
        self._latest_expiry: int | None = None
        """When the last of all ends: from then on nobody needs to be asked. None before the first look."""

    async def hold(self, requested: Reservation) -> Reservation:
        """The reservation that holds now: the wanted one, longer if its owner had it already, or somebody else's."""
        held = await self._db.write(lambda connection: _hold(connection, requested))
        self._latest_expiry = max(self._latest_expiry or 0, held.expires_at)
        return held

    async def release(self, number: int, at: int) -> bool:
        """Whether there was one to release."""
        return await self._db.write(lambda connection: _release(connection, number, at))

    async def list(self, at: int) -> list[Reservation]:
        return await self._db.read(
            lambda connection: [
                _build_reservation(row)
                for row in connection.execute(f"{_SELECT_RESERVATION} WHERE {_IS_ACTIVE} ORDER BY id", (at,))
            ]
        )

    async def find_for_pane(self, pane: PaneId, at: int) -> Reservation | None:
        """Who holds the pane."""
        if self._latest_expiry is None:
            stored = await self._db.read(_read_latest_expiry)
            self._latest_expiry = max(self._latest_expiry or 0, stored)
        if at >= self._latest_expiry:
            return None
        return await self._db.read(lambda connection: _find_for_pane(connection, pane, at))


def _hold(connection: Connection, requested: Reservation) -> Reservation:
    held = _find_for_pane(connection, requested.pane, requested.at)
    if held is None:
        connection.execute(
            "INSERT INTO reservation (pane, owner, at, expires_at) VALUES (?, ?, ?, ?)",
            (requested.pane, requested.owner, requested.at, requested.expires_at),
        )
        return replace(requested, id=connection.last_insert_rowid())
    if held.owner != requested.owner:
        return held
    until = max(held.expires_at, requested.expires_at)
    connection.execute("UPDATE reservation SET expires_at = ? WHERE id = ?", (until, held.id))
    return replace(held, expires_at=until)


def _release(connection: Connection, number: int, at: int) -> bool:
    connection.execute(f"UPDATE reservation SET released_at = ? WHERE id = ? AND {_IS_ACTIVE}", (at, number, at))
    return bool(connection.changes())


def _find_for_pane(connection: Connection, pane: PaneId, at: int) -> Reservation | None:
    row = connection.execute(
        f"{_SELECT_RESERVATION} WHERE pane = ? AND {_IS_ACTIVE} ORDER BY id DESC LIMIT 1", (pane, at)
    ).fetchone()
    return _build_reservation(row) if row else None


def _read_latest_expiry(connection: Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(expires_at), 0) FROM reservation").get)


def _build_reservation(row: tuple[Any, ...]) -> Reservation:
    number, pane, owner, at, expires_at, released_at = row
    return Reservation(id=number, pane=PaneId(pane), owner=owner, at=at, expires_at=expires_at, released_at=released_at)

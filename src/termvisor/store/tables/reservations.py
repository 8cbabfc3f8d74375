"""Store exclusive reservations of panes. A pane has at most one active reservation at a time."""

from msgspec.structs import replace

from termvisor.model.action.approval import Reservation
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.table import RowSelector, StoreTable, run_read, run_write

_RESERVATIONS = RowSelector(Reservation, "reservation")
_IS_ACTIVE = "released_at IS NULL AND expires_at > ?"


class ReservationTable(StoreTable):
    def __init__(self, db: Database):
        super().__init__(db)
        self._latest_expiry: int | None = None
        """Latest expiry of all reservations, after which no query is needed; None until it has been read."""

    async def hold(self, requested: Reservation) -> Reservation:
        """Reserve a pane, or extend the owner's reservation; return the active one, which may be another owner's."""
        active = await self._db.write(lambda connection: _hold(connection, requested))
        self._latest_expiry = max(self._latest_expiry or 0, active.expires_at)
        return active

    @run_write
    def release(self, connection: Connection, number: int, at: int) -> bool:
        """Release a reservation; return False if it is not active."""
        connection.execute(f"UPDATE reservation SET released_at = ? WHERE id = ? AND {_IS_ACTIVE}", (at, number, at))
        return bool(connection.changes())

    @run_read
    def list(self, connection: Connection, at: int) -> list[Reservation]:
        """Return the active reservations."""
        clauses = f"WHERE {_IS_ACTIVE} ORDER BY id"
        return _RESERVATIONS.list(connection, clauses, (at,))

    async def find_for_pane(self, pane: PaneId, at: int) -> Reservation | None:
        """Return the active reservation of a pane."""
        if self._latest_expiry is None:
            stored = await self._db.read(_read_latest_expiry)
            self._latest_expiry = max(self._latest_expiry or 0, stored)
        # Every send checks the reservation, and reservations are rare, so this saves a query.
        if at >= self._latest_expiry:
            return None
        return await self._db.read(lambda connection: _find_for_pane(connection, pane, at))


def _hold(connection: Connection, requested: Reservation) -> Reservation:
    active = _find_for_pane(connection, requested.pane, requested.at)
    if active is None:
        connection.execute(
            "INSERT INTO reservation (pane, owner, at, expires_at) VALUES (?, ?, ?, ?)",
            (requested.pane, requested.owner, requested.at, requested.expires_at),
        )
        return replace(requested, id=connection.last_insert_rowid())
    if active.owner != requested.owner:
        return active
    until = max(active.expires_at, requested.expires_at)
    connection.execute("UPDATE reservation SET expires_at = ? WHERE id = ?", (until, active.id))
    return replace(active, expires_at=until)


def _find_for_pane(connection: Connection, pane: PaneId, at: int) -> Reservation | None:
    return _RESERVATIONS.find(connection, f"WHERE pane = ? AND {_IS_ACTIVE} ORDER BY id DESC", (pane, at))


def _read_latest_expiry(connection: Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(expires_at), 0) FROM reservation").get)

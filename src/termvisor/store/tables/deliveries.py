"""Journal of text deliveries to panes. Every step is synced to disk before it is executed."""

from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.delivery import DeliveryRecord, DeliveryStatus, DeliveryStep
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.rows import RowSelector
from termvisor.store.tables.audit import AuditTable, add_entries

_DELIVERIES = RowSelector(DeliveryRecord, "send", columns={"status": "outcome"})


class DeliveryTable:
    def __init__(self, db: Database, audit: AuditTable):
        self._db, self._audit = db, audit

    async def begin(self, delivery: DeliveryRecord, intent: AuditEntry) -> DeliveryRecord | None:
        """Store a delivery before its first key; if its key was used before, store nothing and return that one."""
        return await self._audit.write_with_entries(lambda connection: _begin(connection, delivery, intent))

    async def record_step(self, key: str, step: DeliveryStep, at: int) -> None:
        await self._db.write_durably(
            lambda connection: connection.execute(
                "UPDATE send SET step = ?, step_at = ? WHERE key = ? AND outcome IS NULL", (step, at, key)
            ).fetchall()
        )

    async def end(self, key: str, status: DeliveryStatus, why: str, entry: AuditEntry) -> None:
        """Store the outcome and its audit entry; an outcome that is already stored stays."""
        await self._audit.write_with_entries(lambda connection: _end(connection, key, (status, why, entry.at), entry))

    async def find_by_key(self, key: str) -> DeliveryRecord | None:
        return await self._db.read(lambda connection: _DELIVERIES.find(connection, "WHERE key = ?", (key,)))

    async def find_by_correlation(self, correlation: str) -> DeliveryRecord | None:
        """Return the delivery that belongs to an action."""
        return await self._db.read(
            lambda connection: _DELIVERIES.find(connection, "WHERE correlation = ?", (correlation,))
        )

    async def list_open(self) -> list[DeliveryRecord]:
        """Return deliveries without an outcome: after a crash they are examined, never repeated."""
        clauses = "WHERE outcome IS NULL ORDER BY begun_at"
        return await self._db.read(lambda connection: _DELIVERIES.list(connection, clauses))


def _begin(connection: Connection, delivery: DeliveryRecord, intent: AuditEntry) -> DeliveryRecord | None:
    previous = _DELIVERIES.find(connection, "WHERE key = ?", (delivery.key,))
    if previous is not None:
        return previous
    connection.execute(
        "INSERT INTO send (key, correlation, pane, action_hash, text_hash, step, begun_at, step_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            delivery.key,
            delivery.correlation,
            delivery.pane,
            delivery.action_hash,
            delivery.text_hash,
            delivery.step,
            *[delivery.begun_at] * 2,
        ),
    )
    add_entries(connection, [intent])
    return None


def _end(connection: Connection, key: str, end: tuple[DeliveryStatus, str, int], entry: AuditEntry) -> None:
    connection.execute(
        "UPDATE send SET outcome = ?, why = ?, step_at = ? WHERE key = ? AND outcome IS NULL", (*end, key)
    )
    if connection.changes():
        add_entries(connection, [entry])

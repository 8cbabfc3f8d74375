"""Journal of text deliveries to panes. Every step is synced to disk before it is executed."""

from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.outcome import DeliveryRecord, DeliveryStatus, DeliveryStep
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.table import RowSelector, StoreTable, run_durable_write, run_read
from termvisor.store.tables.audit import AuditTable, add_entries

_DELIVERIES = RowSelector(DeliveryRecord, "send", columns={"status": "outcome"})


class DeliveryTable(StoreTable):
    def __init__(self, db: Database, audit: AuditTable):
        super().__init__(db)
        self._audit = audit

    async def begin(self, delivery: DeliveryRecord, intent: AuditEntry) -> DeliveryRecord | None:
        """Store a delivery before its first keystroke; if its ``key`` was used before, return that delivery instead."""
        return await self._audit.write_with_entries(lambda connection: _begin(connection, delivery, intent))

    @run_durable_write
    def record_step(self, connection: Connection, key: str, step: DeliveryStep, at: int) -> None:
        connection.execute(
            "UPDATE send SET step = ?, step_at = ? WHERE key = ? AND outcome IS NULL", (step, at, key)
        ).fetchall()

    async def end(self, key: str, status: DeliveryStatus, why: str, entry: AuditEntry) -> None:
        """Store the outcome and its audit entry; an outcome that is already stored is kept."""
        await self._audit.write_with_entries(lambda connection: _end(connection, key, (status, why, entry.at), entry))

    @run_read
    def find_by_key(self, connection: Connection, key: str) -> DeliveryRecord | None:
        return _DELIVERIES.find(connection, "WHERE key = ?", (key,))

    @run_read
    def find_by_correlation(self, connection: Connection, correlation: str) -> DeliveryRecord | None:
        """Return the delivery that belongs to an action."""
        return _DELIVERIES.find(connection, "WHERE correlation = ?", (correlation,))

    @run_read
    def list_open(self, connection: Connection) -> list[DeliveryRecord]:
        """Return deliveries without an outcome: after a crash they are examined, never repeated."""
        clauses = "WHERE outcome IS NULL ORDER BY begun_at"
        return _DELIVERIES.list(connection, clauses)


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

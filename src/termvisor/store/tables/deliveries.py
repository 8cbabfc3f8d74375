"""The journal of texts on their way into panes. Every step is on disk before it is taken."""

from typing import Any

from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.delivery import DeliveryRecord, DeliveryStatus, DeliveryStep
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.tables.audit import AuditTable, add_entries

_SELECT_DELIVERY = (
    "SELECT key, correlation, pane, action_hash, text_hash, begun_at, step, step_at, outcome, why FROM send"
)


class DeliveryTable:
    def __init__(self, db: Database, audit: AuditTable):
        self._db, self._audit = db, audit

    async def begin(self, delivery: DeliveryRecord, intent: AuditEntry) -> DeliveryRecord | None:
        """Record that it is about to be typed; or give back the one that has this key already, and record nothing."""
        return await self._audit.write_with_entries(lambda connection: _begin(connection, delivery, intent))

    async def record_step(self, key: str, step: DeliveryStep, at: int) -> None:
        await self._db.write_durably(
            lambda connection: connection.execute(
                "UPDATE send SET step = ?, step_at = ? WHERE key = ? AND outcome IS NULL", (step, at, key)
            ).fetchall()
        )

    async def end(self, key: str, status: DeliveryStatus, why: str, entry: AuditEntry) -> None:
        """Its outcome, once and for all, with the audit's entry."""
        await self._audit.write_with_entries(lambda connection: _end(connection, key, (status, why, entry.at), entry))

    async def find_by_key(self, key: str) -> DeliveryRecord | None:
        return await self._db.read(lambda connection: _find_by_key(connection, key))

    async def find_by_correlation(self, correlation: str) -> DeliveryRecord | None:
        """The send that is part of this action's story."""
        return await self._db.read(lambda connection: _find_by_correlation(connection, correlation))

    async def list_open(self) -> list[DeliveryRecord]:
        """Those whose outcome is not known: after a crash they are looked at, never repeated."""
        return await self._db.read(
            lambda connection: [
                _build_delivery(row)
                for row in connection.execute(f"{_SELECT_DELIVERY} WHERE outcome IS NULL ORDER BY begun_at")
            ]
        )


def _begin(connection: Connection, delivery: DeliveryRecord, intent: AuditEntry) -> DeliveryRecord | None:
    earlier = _find_by_key(connection, delivery.key)
    if earlier is not None:
        return earlier
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


def _find_by_key(connection: Connection, key: str) -> DeliveryRecord | None:
    row = connection.execute(f"{_SELECT_DELIVERY} WHERE key = ?", (key,)).fetchone()
    return _build_delivery(row) if row else None


def _find_by_correlation(connection: Connection, correlation: str) -> DeliveryRecord | None:
    row = connection.execute(f"{_SELECT_DELIVERY} WHERE correlation = ?", (correlation,)).fetchone()
    return _build_delivery(row) if row else None


def _build_delivery(row: tuple[Any, ...]) -> DeliveryRecord:
    key, correlation, pane, action_hash, text_hash, begun_at, step, step_at, status, why = row
    return DeliveryRecord(
        key=key,
        correlation=correlation,
        pane=PaneId(pane),
        action_hash=action_hash,
        text_hash=text_hash,
        begun_at=begun_at,
        step=step,
        step_at=step_at,
        status=status,
        why=why,
    )

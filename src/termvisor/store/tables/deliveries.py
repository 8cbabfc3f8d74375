"""The journal of texts on their way into panes. Every step is on disk before it is taken."""

from typing import Any

from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.delivery import Send, SendStatus, SendStep
from termvisor.model.ids import PaneId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.tables.audit import Audit, add_entries

_SEND = "SELECT key, correlation, pane, action_hash, text_hash, begun_at, step, step_at, outcome, why FROM send"


class Sends:
    def __init__(self, db: Database, audit: Audit):
        self._db, self._audit = db, audit

    async def begin(self, send: Send, intent: AuditEntry) -> Send | None:
        """Record that it is about to be typed; or give back the one that has this key already, and record nothing."""
        return await self._audit.write(lambda connection: _begin(connection, send, intent))

    async def step(self, key: str, step: SendStep, at: int) -> None:
        await self._db.write_durably(
            lambda connection: connection.execute(
                "UPDATE send SET step = ?, step_at = ? WHERE key = ? AND outcome IS NULL", (step, at, key)
            ).fetchall()
        )

    async def end(self, key: str, status: SendStatus, why: str, entry: AuditEntry) -> None:
        """Its outcome, once and for all, with the audit's entry."""
        await self._audit.write(lambda connection: _end(connection, key, (status, why, entry.at), entry))

    async def one(self, key: str) -> Send | None:
        return await self._db.read(lambda connection: _one(connection, key))

    async def of(self, correlation: str) -> Send | None:
        """The send that is part of this action's story."""
        return await self._db.read(lambda connection: _of(connection, correlation))

    async def open(self) -> list[Send]:
        """Those whose outcome is not known: after a crash they are looked at, never repeated."""
        return await self._db.read(
            lambda connection: [
                _send(row) for row in connection.execute(f"{_SEND} WHERE outcome IS NULL ORDER BY begun_at")
            ]
        )


def _begin(connection: Connection, send: Send, intent: AuditEntry) -> Send | None:
    earlier = _one(connection, send.key)
    if earlier is not None:
        return earlier
    connection.execute(
        "INSERT INTO send (key, correlation, pane, action_hash, text_hash, step, begun_at, step_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (send.key, send.correlation, send.pane, send.action_hash, send.text_hash, send.step, *[send.begun_at] * 2),
    )
    add_entries(connection, [intent])
    return None


def _end(connection: Connection, key: str, end: tuple[SendStatus, str, int], entry: AuditEntry) -> None:
    connection.execute(
        "UPDATE send SET outcome = ?, why = ?, step_at = ? WHERE key = ? AND outcome IS NULL", (*end, key)
    )
    if connection.changes():
        add_entries(connection, [entry])


def _one(connection: Connection, key: str) -> Send | None:
    row = connection.execute(f"{_SEND} WHERE key = ?", (key,)).fetchone()
    return _send(row) if row else None


def _of(connection: Connection, correlation: str) -> Send | None:
    row = connection.execute(f"{_SEND} WHERE correlation = ?", (correlation,)).fetchone()
    return _send(row) if row else None


def _send(row: tuple[Any, ...]) -> Send:
    key, correlation, pane, action_hash, text_hash, begun_at, step, step_at, status, why = row
    return Send(
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

"""The record of all that was wanted, decided and done. It only grows, and every entry vouches for the one before it."""

import _blake2
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.model.audit import AuditEntry, BrokenChain
from termvisor.model.ids import PaneId
from termvisor.store.db import Connection, Database

_PAGE = 500
_Page = list[tuple[int, tuple[Any, ...], str, str, str]]
"""Of each entry: its number, what stands in its columns, its text, the hash before it and its own."""
_ENTRY = msgspec.json.Decoder(AuditEntry)
_ENCODE = msgspec.json.Encoder(order="deterministic").encode


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which entries: of a pane, an action kind, one action's whole story, or from a time on."""

    pane: PaneId | None = None
    kind: str | None = None
    correlation: str | None = None
    since: int | None = None


class Audit:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """On disk when the call returns, also if the power fails right after it."""
        return await self._db.write_durably(lambda connection: add_entries(connection, entries))

    async def list(
        self, *, after: int | None = None, only: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        """Oldest first: with ``after`` the first ones beyond that id, else the newest."""
        return await self._db.read(lambda connection: _list(connection, after, only or AuditFilter(), limit))

    async def verify(self) -> BrokenChain | None:
        """The first entry that was changed, removed or slipped in; None when the chain is whole."""
        previous, last = "", 0
        while page := await self._after(last):
            for number, stored, entry, previous_hash, own in page:
                if number != last + 1 or previous_hash != previous:
                    return BrokenChain(number, f"it does not follow entry {last}")
                if own != _hash(previous, entry) or stored != _columns(entry):
                    return BrokenChain(number, "its content was changed")
                previous, last = own, number
        return await self._db.read(lambda connection: _cut(connection, last))

    async def _after(self, last: int) -> "_Page":
        return await self._db.read(lambda connection: _page(connection, last))


def add_entries(connection: Connection, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
    """Inside a transaction of the caller's."""
    previous: str = connection.execute("SELECT coalesce((SELECT hash FROM audit ORDER BY id DESC LIMIT 1), '')").get
    stored = []
    for entry in entries:
        bare = replace(entry, id=0, previous="", hash="")
        text = _ENCODE(bare).decode()
        digest = _hash(previous, text)
        connection.execute(
            "INSERT INTO audit (at, correlation, stage, kind, pane, actor, entry, previous, hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*_columns(text), text, previous, digest),
        )
        number = connection.last_insert_rowid()
        stored.append(replace(bare, id=number, previous=previous, hash=digest))
        previous = digest
    return stored


def _columns(text: str) -> tuple[Any, ...]:
    entry = _ENTRY.decode(text)
    return entry.at, entry.correlation, entry.stage, entry.kind, entry.pane, _ENCODE(entry.actor).decode()


def _hash(previous: str, entry: str) -> str:
    return _blake2.blake2b(f"{previous}\n{entry}".encode(), digest_size=32).hexdigest()


def _page(connection: Connection, after: int) -> _Page:
    rows = connection.execute(
        "SELECT id, at, correlation, stage, kind, pane, actor, entry, previous, hash FROM audit"
        " WHERE id > ? ORDER BY id LIMIT ?",
        (after, _PAGE),
    )
    return [(row[0], row[1:7], row[7], row[8], row[9]) for row in rows]


def _cut(connection: Connection, last: int) -> BrokenChain | None:
    """Ids are never given twice: one that was given and is not there was cut off the end."""
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").fetchone()
    given = int(found[0]) if found else 0
    return BrokenChain(last + 1, "it was removed") if given != last else None


def _list(connection: Connection, after: int | None, only: AuditFilter, limit: int) -> list[AuditEntry]:
    conditions = {
        "id > ?": after,
        "pane = ?": only.pane,
        "kind = ?": only.kind,
        "correlation = ?": only.correlation,
        "at >= ?": only.since,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where, order = " AND ".join(given) or "TRUE", "id" if after is not None else "id DESC"
    rows = connection.execute(
        f"SELECT id, entry, previous, hash FROM audit WHERE {where} ORDER BY {order} LIMIT ?",
        (*given.values(), max(0, limit)),
    ).fetchall()
    found = [_entry(row) for row in rows]
    return found if after is not None else found[::-1]


def _entry(row: tuple[Any, ...]) -> AuditEntry:
    number, text, previous, digest = row
    return replace(_ENTRY.decode(text), id=number, previous=previous, hash=digest)

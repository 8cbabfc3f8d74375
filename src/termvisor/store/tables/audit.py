"""The record of all that was wanted, decided and done. It only grows, and every entry vouches for the one before it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.model.action.audit import AuditEntry, AuditFilter, BrokenChain
from termvisor.model.action.hash_chain import Chain, Link, hash_of
from termvisor.store.sqlite.database import Connection, Database

_PAGE = 500
T = TypeVar("T")
_Page = list[tuple[Link, tuple[Any, ...]]]
"""Entries, each with what stands in its columns."""
_ENTRY = msgspec.json.Decoder(AuditEntry)
_ENCODE = msgspec.json.Encoder(order="deterministic").encode


class Audit:
    def __init__(self, db: Database):
        self._db = db
        self.news: Bus[None] = Bus()
        """Wakes whoever follows the record: something may have been added to it, and is on disk."""

    async def add(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """On disk when the call returns, also if the power fails right after it."""
        return await self.write(lambda connection: add_entries(connection, entries))

    async def write(self, fn: Callable[[Connection], T]) -> T:
        """A durable transaction of the caller's that also adds entries."""
        loop = asyncio.get_running_loop()
        return await self._db.write_durably(fn, then=lambda: loop.call_soon_threadsafe(self.news.publish, None))

    async def links(self, after: int, limit: int = _PAGE) -> list[Link]:
        """The first entries beyond this id, as they are kept."""
        return [link for link, _ in await self._page(after, limit)]

    async def list(
        self, *, after: int | None = None, only: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        """Oldest first: with ``after`` the first ones beyond that id, else the newest."""
        return await self._db.read(lambda connection: _list(connection, after, only or AuditFilter(), limit))

    async def verify(self, kept: str = "") -> BrokenChain | None:
        """The first entry that was changed, removed or slipped in; None when the chain is whole."""
        chain = Chain(kept)
        while page := await self._page(chain.last, _PAGE):
            for link, columns in page:
                if wrong := chain.wrong(link):
                    return wrong
                if columns != _columns(link.entry):
                    return BrokenChain(link.id, "its content was changed")
        return await self._db.read(lambda connection: _cut(connection, chain.last)) or chain.wrong_at_end()

    async def _page(self, after: int, limit: int) -> _Page:
        return await self._db.read(lambda connection: _page(connection, after, limit))


def add_entries(connection: Connection, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
    """Inside a transaction of the caller's."""
    previous: str = connection.execute("SELECT coalesce((SELECT hash FROM audit ORDER BY id DESC LIMIT 1), '')").get
    stored = []
    for entry in entries:
        bare = replace(entry, id=0, previous="", hash="")
        text = _ENCODE(bare).decode()
        digest = hash_of(previous, text)
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


def _page(connection: Connection, after: int, limit: int) -> _Page:
    rows = connection.execute(
        "SELECT id, at, correlation, stage, kind, pane, actor, entry, previous, hash FROM audit"
        " WHERE id > ? ORDER BY id LIMIT ?",
        (after, limit),
    )
    return [(Link(id=row[0], entry=row[7], previous=row[8], hash=row[9]), row[1:7]) for row in rows]


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
        "? IN (actor ->> '$.kind', actor ->> '$.name')": only.actor,
        "entry ->> '$.outcome' = ?": only.outcome,
        "correlation = ?": only.correlation,
        "entry ->> '$.undoes' = ?": only.undoes,
        "at >= ?": only.since,
        "at <= ?": only.until,
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

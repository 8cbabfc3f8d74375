"""The record of all that was wanted, decided and done. It only grows, and every entry vouches for the one before it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.model.action.audit import AuditEntry, AuditFilter, ChainBreak
from termvisor.model.action.hash_chain import HashChainEntry, HashChainVerifier, hash_entry
from termvisor.store.sqlite.database import Connection, Database

_PAGE_SIZE = 500
T = TypeVar("T")
_EntryPage = list[tuple[HashChainEntry, tuple[Any, ...]]]
"""Entries, each with what stands in its columns."""
_ENTRY_DECODER = msgspec.json.Decoder(AuditEntry)
_encode_json = msgspec.json.Encoder(order="deterministic").encode


class AuditTable:
    def __init__(self, db: Database):
        self._db = db
        self.updates: Bus[None] = Bus()
        """Wakes whoever follows the record: something may have been added to it, and is on disk."""

    async def add(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """On disk when the call returns, also if the power fails right after it."""
        return await self.write_with_entries(lambda connection: add_entries(connection, entries))

    async def write_with_entries(self, fn: Callable[[Connection], T]) -> T:
        """A durable transaction of the caller's that also adds entries."""
        loop = asyncio.get_running_loop()
        return await self._db.write_durably(fn, on_stored=lambda: loop.call_soon_threadsafe(self.updates.publish, None))

    async def list_chain_entries(self, after: int, limit: int = _PAGE_SIZE) -> list[HashChainEntry]:
        """The first entries beyond this id, as they are kept."""
        return [link for link, _ in await self._read_page(after, limit)]

    async def list(
        self, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        """Oldest first: with ``after`` the first ones beyond that id, else the newest."""
        return await self._db.read(lambda connection: _list_entries(connection, after, filters or AuditFilter(), limit))

    async def verify(self, expected_hash: str = "") -> ChainBreak | None:
        """The first entry that was changed, removed or slipped in; None when the chain is whole."""
        chain = HashChainVerifier(expected_hash)
        while page := await self._read_page(chain.last_id, _PAGE_SIZE):
            for link, columns in page:
                if wrong := chain.check_entry(link):
                    return wrong
                if columns != _extract_columns(link.entry):
                    return ChainBreak(link.id, "its content was changed")
        return await self._db.read(lambda connection: _find_truncation(connection, chain.last_id)) or chain.check_end()

    async def _read_page(self, after: int, limit: int) -> _EntryPage:
        return await self._db.read(lambda connection: _read_page(connection, after, limit))


def add_entries(connection: Connection, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
    """Inside a transaction of the caller's."""
    previous: str = connection.execute("SELECT coalesce((SELECT hash FROM audit ORDER BY id DESC LIMIT 1), '')").get
    stored = []
    for entry in entries:
        bare = replace(entry, id=0, previous="", hash="")
        text = _encode_json(bare).decode()
        digest = hash_entry(previous, text)
        connection.execute(
            "INSERT INTO audit (at, correlation, stage, kind, pane, actor, entry, previous, hash)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*_extract_columns(text), text, previous, digest),
        )
        number = connection.last_insert_rowid()
        stored.append(replace(bare, id=number, previous=previous, hash=digest))
        previous = digest
    return stored


def _extract_columns(text: str) -> tuple[Any, ...]:
    entry = _ENTRY_DECODER.decode(text)
    return entry.at, entry.correlation, entry.stage, entry.kind, entry.pane, _encode_json(entry.actor).decode()


def _read_page(connection: Connection, after: int, limit: int) -> _EntryPage:
    rows = connection.execute(
        "SELECT id, at, correlation, stage, kind, pane, actor, entry, previous, hash FROM audit"
        " WHERE id > ? ORDER BY id LIMIT ?",
        (after, limit),
    )
    return [(HashChainEntry(id=row[0], entry=row[7], previous=row[8], hash=row[9]), row[1:7]) for row in rows]


def _find_truncation(connection: Connection, last: int) -> ChainBreak | None:
    """Ids are never given twice: one that was given and is not there was cut off the end."""
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").fetchone()
    given = int(found[0]) if found else 0
    return ChainBreak(last + 1, "it was removed") if given != last else None


def _list_entries(connection: Connection, after: int | None, filters: AuditFilter, limit: int) -> list[AuditEntry]:
    conditions = {
        "id > ?": after,
        "pane = ?": filters.pane,
        "kind = ?": filters.kind,
        "? IN (actor ->> '$.kind', actor ->> '$.name')": filters.actor,
        "entry ->> '$.outcome' = ?": filters.outcome,
        "correlation = ?": filters.correlation,
        "entry ->> '$.undoes' = ?": filters.undoes,
        "at >= ?": filters.since,
        "at <= ?": filters.until,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where, order = " AND ".join(given) or "TRUE", "id" if after is not None else "id DESC"
    rows = connection.execute(
        f"SELECT id, entry, previous, hash FROM audit WHERE {where} ORDER BY {order} LIMIT ?",
        (*given.values(), max(0, limit)),
    ).fetchall()
    found = [_build_entry(row) for row in rows]
    return found if after is not None else found[::-1]


def _build_entry(row: tuple[Any, ...]) -> AuditEntry:
    number, text, previous, digest = row
    return replace(_ENTRY_DECODER.decode(text), id=number, previous=previous, hash=digest)

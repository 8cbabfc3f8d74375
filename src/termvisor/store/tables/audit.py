"""Append-only audit log of requested, decided and executed actions, protected by a hash chain."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.model.action.audit import (
    AuditEntry,
    AuditFilter,
    ChainBreak,
    HashChainEntry,
    HashChainVerifier,
    hash_entry,
)
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.table import StoreTable, build_where, read_last_id, run_read

_PAGE_SIZE = 500
T = TypeVar("T")
# Chain entries, each with the values of its filter columns.
_EntryPage = list[tuple[HashChainEntry, tuple[Any, ...]]]
_ENTRY_DECODER = msgspec.json.Decoder(AuditEntry)
# The hash covers the text, so the same entry must always give the same text.
_encode_json = msgspec.json.Encoder(order="deterministic").encode


class _FilterColumns(msgspec.Struct, frozen=True):
    """The fields of an entry that are columns, too."""

    at: int
    correlation: str
    stage: str
    kind: str
    pane: int | None
    actor: msgspec.Raw
    """As it is in the text: an older version knew fewer fields of a caller."""


class AuditTable(StoreTable):
    def __init__(self, db: Database):
        super().__init__(db)
        self.updates: Bus[None] = Bus()
        """Published after new entries are on disk, for clients that follow the log."""

    async def add(self, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
        """Append entries, synced to disk before the call returns; return them with ids and hashes."""
        return await self.write_with_entries(lambda connection: add_entries(connection, entries))

    async def write_with_entries(self, fn: Callable[[Connection], T]) -> T:
        """Run a durable transaction that also adds entries, then publish an update."""
        # The callback runs in the writer thread, even if this caller was cancelled.
        loop = asyncio.get_running_loop()
        return await self._db.write_durably(fn, on_stored=lambda: loop.call_soon_threadsafe(self.updates.publish, None))

    async def list_chain_entries(self, after: int, limit: int = _PAGE_SIZE) -> list[HashChainEntry]:
        """Return the first entries after this id exactly as stored, for verification."""
        return [entry for entry, _ in await self._read_page(after, limit)]

    @run_read
    def list(
        self, connection: Connection, *, after: int | None = None, filters: AuditFilter | None = None, limit: int = 20
    ) -> list[AuditEntry]:
        """Return entries, oldest first: with ``after`` the first ones after that id, else the newest."""
        filters = filters or AuditFilter()
        conditions = {
            "id > ?": after,
            "pane = ?": filters.pane,
            "kind = ?": filters.kind,
            "? IN (actor ->> '$.kind', actor ->> '$.name', actor ->> '$.face')": filters.actor,
            "entry ->> '$.outcome' = ?": filters.outcome,
            "correlation = ?": filters.correlation,
            # The correlation of an effect is that of its cause with more parts: event, run, step, attempt.
            "instr(correlation || '.', ? || '.') = 1": filters.cause,
            "entry ->> '$.undoes' = ?": filters.undoes,
            "at >= ?": filters.since,
            "at <= ?": filters.until,
        }
        where, values = build_where(conditions)
        order = "id" if after is not None else "id DESC"
        rows = connection.execute(
            f"SELECT id, entry, previous, hash FROM audit WHERE {where} ORDER BY {order} LIMIT ?",
            (*values, max(0, limit)),
        ).fetchall()
        entries = [_build_entry(row) for row in rows]
        return entries if after is not None else entries[::-1]

    async def verify(self, expected_hash: str = "") -> ChainBreak | None:
        """Return the first entry that was changed, removed or inserted; None if the chain is intact."""
        verifier = HashChainVerifier(expected_hash)
        while page := await self._read_page(verifier.last_id, _PAGE_SIZE):
            for entry, columns in page:
                if chain_break := verifier.check_entry(entry):
                    return chain_break
                if columns != _extract_columns(entry.entry):
                    return ChainBreak(entry.id, "its content was changed")
        last_assigned = await self._db.read(lambda connection: read_last_id(connection, "audit"))
        # Ids are never reused: an assigned id above the last entry means that entries were cut off at the end.
        if last_assigned != verifier.last_id:
            return ChainBreak(verifier.last_id + 1, "it was removed")
        return verifier.check_end()

    @run_read
    def _read_page(self, connection: Connection, after: int, limit: int) -> _EntryPage:
        rows = connection.execute(
            "SELECT id, at, correlation, stage, kind, pane, actor, entry, previous, hash FROM audit"
            " WHERE id > ? ORDER BY id LIMIT ?",
            (after, limit),
        )
        return [(HashChainEntry(id=row[0], entry=row[7], previous=row[8], hash=row[9]), row[1:7]) for row in rows]


def add_entries(connection: Connection, entries: Sequence[AuditEntry]) -> list[AuditEntry]:
    """Append entries inside the caller's transaction; return them with ids and hashes."""
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
    columns = msgspec.json.decode(text, type=_FilterColumns)
    *others, actor = msgspec.structs.astuple(columns)
    return *others, bytes(actor).decode()


def _build_entry(row: tuple[Any, ...]) -> AuditEntry:
    number, text, previous, digest = row
    return replace(_ENTRY_DECODER.decode(text), id=number, previous=previous, hash=digest)

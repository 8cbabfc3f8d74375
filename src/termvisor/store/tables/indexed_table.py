"""Search index and time buckets of the three tables with text: `block`, `sighting` and `utterance`.

The FTS5 index ``<table>_fts`` has the columns text and pane, and no copy of the text. The view ``<table>_indexed`` is
the text as it was indexed: that of rows in ``<table>_rewritten`` by `rewrite_for_index`, of others as it is stored.
``<table>_time`` stores the first and last time of every 256 consecutive ids: a search with a time range reads these
buckets instead of an index on the time of every row. Invariant: all change in the transaction that stores or deletes
the row.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import apsw
from msgspec import Struct

from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.index_text import is_rewritten, rewrite_for_index

TIME_BUCKET_BITS = 8
"""Rows whose ids differ only in this many low bits share one bucket."""
IdRange = tuple[int, int]
"""First and last id of consecutive rows."""
_ALL_IDS: IdRange = (0, (1 << 63) - 1)


class IndexedTable(Struct, frozen=True):
    name: str

    def add_texts(self, connection: Connection, rows: Sequence[tuple[int, str, int]]) -> None:
        """Index new rows, each given as id, text and pane."""
        rewritten = [(row_id, rewrite_for_index(text), pane) for row_id, text, pane in rows]
        connection.executemany(f"INSERT INTO {self.name}_fts (rowid, text, pane) VALUES (?, ?, ?)", rewritten)
        changed = [(new[0],) for old, new in zip(rows, rewritten, strict=True) if new != old]
        connection.executemany(f"INSERT OR IGNORE INTO {self.name}_rewritten VALUES (?)", changed)

    def delete_text(self, connection: Connection, row_id: int) -> None:
        """Remove a row from the index; call it before the row itself is deleted."""
        # The index has external content: FTS5 needs the old text to remove its entries.
        connection.execute(
            f"INSERT INTO {self.name}_fts ({self.name}_fts, rowid, text, pane)"
            f" SELECT 'delete', id, text, pane FROM {self.name}_indexed WHERE id = ?",
            (row_id,),
        )
        connection.execute(f"DELETE FROM {self.name}_rewritten WHERE id = ?", (row_id,))

    def upgrade_texts(self, connection: Connection, count: int) -> int | None:
        """Index the next ``count`` rows again that an older version indexed; return how many changed, None at the end.

        The newest rows come first, because they are searched most.
        """
        last_id: int = connection.execute("SELECT last_id FROM index_upgrade WHERE name = ?", (self.name,)).get
        query = f"SELECT id, text, pane FROM {self.name} WHERE id <= ? ORDER BY id DESC LIMIT ?"
        rows = cast("list[tuple[int, str, int]]", connection.execute(query, (last_id, count)).fetchall())
        changed = [row for row in rows if is_rewritten(row[1])]
        for row in changed:
            self.delete_text(connection, row[0])
        self.add_texts(connection, changed)
        rest = rows[-1][0] - 1 if rows else 0
        connection.execute("UPDATE index_upgrade SET last_id = ? WHERE name = ?", (rest, self.name))
        return len(changed) if rows else None

    def extend_times(self, connection: Connection, times: Iterable[tuple[int, int, int]]) -> None:
        """Widen the time buckets of these rows (id, first time, last time) to include their times."""
        buckets: dict[int, tuple[int, int]] = {}
        for row_id, at, until in times:
            bucket = row_id >> TIME_BUCKET_BITS
            first, last = buckets.get(bucket, (at, until))
            buckets[bucket] = min(first, at), max(last, until)
        connection.executemany(
            f"INSERT INTO {self.name}_time VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
            " SET at = min(at, excluded.at), until = max(until, excluded.until)",
            [(bucket, *span) for bucket, span in buckets.items()],
        )

    def list_id_ranges(self, connection: Connection, since: int | None, until: int | None) -> list[IdRange]:
        """Return id ranges that contain all rows in this time range, newest first; they may contain other rows too."""
        if since is None and until is None:
            return [_ALL_IDS]
        rows = connection.execute(
            f"SELECT shelf FROM {self.name}_time WHERE until >= ? AND at <= ? ORDER BY shelf DESC",
            (_ALL_IDS[0] if since is None else since, _ALL_IDS[1] if until is None else until),
        )
        return merge_ranges((bucket << TIME_BUCKET_BITS, (bucket + 1 << TIME_BUCKET_BITS) - 1) for (bucket,) in rows)

    def delete_empty_buckets(self, connection: Connection) -> None:
        """Delete the buckets below the lowest remaining id, since rows are deleted from the lowest id on."""
        lowest = f"SELECT coalesce(min(id) >> {TIME_BUCKET_BITS}, 1 << 62) FROM {self.name}"
        connection.execute(f"DELETE FROM {self.name}_time WHERE shelf < ({lowest})")

    def merge_segments(self, connection: Connection, pages: int) -> bool:
        """Merge about this many pages of the index (if negative, across all of its segments); return True if there is
        more to merge.
        """
        before = connection.total_changes()
        connection.execute(f"INSERT INTO {self.name}_fts ({self.name}_fts, rank) VALUES ('merge', ?)", (pages,))
        # FTS5 changes at most one row if there was nothing left to merge.
        return connection.total_changes() - before > 1

    def rebuild(self, connection: Connection) -> None:
        """Rebuild the index from the text."""
        connection.execute(f"DELETE FROM {self.name}_rewritten")
        connection.execute(
            f"INSERT INTO {self.name}_rewritten SELECT id FROM {self.name} WHERE rewrite_for_index(text) <> text"
        )
        connection.execute("UPDATE index_upgrade SET last_id = 0 WHERE name = ?", (self.name,))
        connection.execute(f"INSERT INTO {self.name}_fts ({self.name}_fts) VALUES ('rebuild')").fetchall()

    def compare_counts(self, connection: Connection) -> list[str]:
        """Describe the damage if the index and the table have different numbers of rows."""
        missing: int = connection.execute(
            f"SELECT (SELECT count(*) FROM {self.name}) - (SELECT count(*) FROM {self.name}_fts_docsize)"
        ).get
        return [f"the search index and the text differ by {abs(missing)} {self.name}s"] if missing else []

    def compare_texts(self, connection: Connection) -> list[str]:
        """Describe the damage if the index does not match the text. Locks the file."""
        try:
            connection.execute(f"INSERT INTO {self.name}_fts ({self.name}_fts, rank) VALUES ('integrity-check', 1)")
        except apsw.CorruptError:
            # FTS5 reports a mismatch with this error; the file itself is intact.
            return [f"the search index of {self.name} does not match the text"]
        return []


BLOCKS, SIGHTINGS, UTTERANCES = IndexedTable("block"), IndexedTable("sighting"), IndexedTable("utterance")
"""Lines of the output stream, rows of full-screen programs, messages of agent transcripts."""
INDEXED_TABLES = {table.name: table for table in (BLOCKS, SIGHTINGS, UTTERANCES)}


def merge_ranges(ranges: Iterable[IdRange]) -> list[IdRange]:
    """Join adjacent ranges, which must be in descending order."""
    merged: list[IdRange] = []
    for first, last in ranges:
        if merged and merged[-1][0] == last + 1:
            merged[-1] = first, merged[-1][1]
        else:
            merged.append((first, last))
    return merged

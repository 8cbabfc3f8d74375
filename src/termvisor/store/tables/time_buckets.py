"""Map times to row ids: one row of first and last time for every 256 consecutive ids of an indexed table.

A search with a time range reads these buckets instead of an index on the time of every row.
"""

from collections.abc import Iterable

from termvisor.store.sqlite.database import Connection

TIME_BUCKET_BITS = 8
"""Rows whose ids differ only in this many low bits share one bucket."""


def extend_time_buckets(connection: Connection, table: str, times: Iterable[tuple[int, int, int]]) -> None:
    """Widen the buckets of these rows (id, first time, last time) so that they include their times."""
    buckets: dict[int, tuple[int, int]] = {}
    for row_id, at, until in times:
        bucket = row_id >> TIME_BUCKET_BITS
        first, last = buckets.get(bucket, (at, until))
        buckets[bucket] = min(first, at), max(last, until)
    connection.executemany(
        f"INSERT INTO {table}_time VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
        " SET at = min(at, excluded.at), until = max(until, excluded.until)",
        [(bucket, *span) for bucket, span in buckets.items()],
    )

"""Jobs: one row each, which outlives its terminal and the daemon. Commands and prompts are stored redacted."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict, replace

from termvisor.model.ids import JobId
from termvisor.model.job import ENDED_STATES, Job, JobFilter
from termvisor.store.sqlite import table
from termvisor.store.sqlite.database import Connection

_JOBS = table.RowSelector(Job, "job", decoders={"is_interactive": bool, "is_detached": bool})
_TEXT_COLUMNS = ("name", "command", "prompt", "session", "prompts")


class JobTable(table.StoreTable):
    @table.run_write
    def add(self, connection: Connection, job: Job) -> Job:
        """Store a new job; return it with its id."""
        return replace(job, id=JobId(table.insert_row(connection, "job", _encode(job))))

    @table.run_write
    def save(self, connection: Connection, job: JobId, changes: Mapping[str, Any]) -> Job | None:
        """Store changes of a job and return it; None if it was removed. An ended job keeps its state."""
        stored = _JOBS.find(connection, "WHERE id = ?", (job,))
        if stored is None:
            return None
        if stored.is_over:
            changes = {name: value for name, value in changes.items() if name not in ("state", "code", "signal", "why")}
        changed: Job = replace(stored, **changes)
        columns = _encode(changed)
        connection.execute(
            f"UPDATE job SET {', '.join(f'[{name}] = ?' for name in columns)} WHERE id = ?",
            (*columns.values(), job),
        )
        return changed

    @table.run_read
    def find(self, connection: Connection, job: JobId) -> Job | None:
        return _JOBS.find(connection, "WHERE id = ?", (job,))

    @table.run_read
    def find_retry(self, connection: Connection, job: JobId) -> Job | None:
        """Return the attempt that followed a job."""
        return _JOBS.find(connection, "WHERE retry_of = ?", (job,))

    @table.run_read
    def list_open(self, connection: Connection) -> list[Job]:
        """Return the jobs that have not ended, oldest first."""
        return _JOBS.list(connection, "WHERE state NOT IN ('finished', 'lost') ORDER BY id")

    @table.run_read
    def list_ended(self, connection: Connection, *, before: int | None = None) -> list[Job]:
        """Return the ended jobs that were created before a time, oldest first."""
        where, values = table.build_where({"created_at < ?": before})
        ended = ", ".join(f"'{state}'" for state in ENDED_STATES)
        return _JOBS.list(connection, f"WHERE {where} AND state IN ({ended}) ORDER BY id", values)

    @table.run_write
    def remove(self, connection: Connection, job: JobId) -> None:
        """Remove an ended job; one that has not ended stays."""
        connection.execute("DELETE FROM job WHERE id = ? AND state IN ('finished', 'lost')", (job,)).fetchall()

    @table.run_read
    def list(self, connection: Connection, filters: JobFilter, limit: int = 20) -> list[Job]:
        """Return the newest matching jobs, oldest first."""
        where, values = table.build_where({"name = ?": filters.name, "created_at >= ?": filters.since})
        if filters.states:
            where += f" AND state IN ({', '.join('?' * len(filters.states))})"
        clauses = f"WHERE {where} ORDER BY id DESC LIMIT ?"
        return _JOBS.list(connection, clauses, (*values, *filters.states, max(0, limit)))[::-1]


def _encode(job: Job) -> dict[str, Any]:
    columns: dict[str, Any] = asdict(job)
    del columns["id"]
    return columns | {name: table.replace_surrogates(columns[name]) for name in _TEXT_COLUMNS}

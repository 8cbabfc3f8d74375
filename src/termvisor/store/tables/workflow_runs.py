"""Journal of workflow runs. A step is synced to disk before it is executed."""

from typing import Any, cast

import msgspec
from msgspec.structs import asdict, astuple, replace

from termvisor.model.event import Scalar
from termvisor.model.ids import EventId
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunSignal, RunStep
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.rows import RowSelector, build_where, encode_json

_RUN_COLUMNS = tuple(name for name in Run.__struct_fields__ if name != "id")
_STEP_COLUMNS = RunStep.__struct_fields__
_SIGNAL_COLUMNS = tuple(name for name in RunSignal.__struct_fields__ if name != "id")
_RUNS = RowSelector(Run, "run", decoders={"facts": msgspec.json.Decoder(dict[str, Scalar]).decode})
_STEPS = RowSelector(RunStep, "run_step")
_SIGNALS = RowSelector(RunSignal, "run_signal")


class WorkflowRunTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None:
        """Store a run and the cursor in one transaction; return None if its event already started the workflow."""
        return await self._db.write_durably(lambda connection: _add_run(connection, run, cursor))

    async def advance_cursor(self, cursor: EventId) -> None:
        """Record that events up to this one were matched against the workflows."""
        await self._db.write_durably(lambda connection: _advance_cursor(connection, cursor))

    async def read_cursor(self) -> EventId | None:
        """Return the last event that was matched against the workflows; None before the first."""
        event = await self._db.read(lambda connection: connection.execute("SELECT event FROM run_cursor").get)
        return cast("EventId | None", event)

    async def save(self, run: Run) -> None:
        """Update a run; a run that has ended is never changed."""
        await self._db.write_durably(lambda connection: _save_run(connection, run))

    async def save_step(self, run: RunId, step: RunStep) -> None:
        """Store a step before it is executed, or its result."""
        await self._db.write_durably(lambda connection: _save_step(connection, run, step))

    async def add_signal(self, signal: RunSignal) -> RunSignal:
        return await self._db.write_durably(lambda connection: _add_signal(connection, signal))

    async def list_signals(self, run: RunId) -> list[RunSignal]:
        """Return the signals sent to a run, oldest first."""
        return await self._db.read(lambda connection: _SIGNALS.list(connection, "WHERE run = ? ORDER BY id", (run,)))

    async def find(self, run: RunId) -> Run | None:
        return await self._db.read(lambda connection: _RUNS.find(connection, "WHERE id = ?", (run,)))

    async def list_steps(self, run: RunId) -> list[RunStep]:
        """Return the steps of a run in the order of execution."""
        return await self._db.read(lambda connection: _STEPS.list(connection, "WHERE run = ? ORDER BY number", (run,)))

    async def list_open(self) -> list[Run]:
        """Return the runs that have not ended, oldest first."""
        return await self._db.read(lambda connection: _RUNS.list(connection, "WHERE ended_at IS NULL ORDER BY id"))

    async def list(self, filters: RunFilter, limit: int = 20) -> list[Run]:
        """Return the newest matching runs, oldest first."""
        return await self._db.read(lambda connection: _list_runs(connection, filters, limit))


def _add_run(connection: Connection, run: Run, cursor: EventId | None) -> Run | None:
    columns, marks = ", ".join(_RUN_COLUMNS), ", ".join("?" * len(_RUN_COLUMNS))
    connection.execute(f"INSERT INTO run ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING", _encode_run(run))
    added = replace(run, id=RunId(connection.last_insert_rowid())) if connection.changes() else None
    if cursor is not None:
        _advance_cursor(connection, cursor)
    return added


def _advance_cursor(connection: Connection, cursor: EventId) -> None:
    connection.execute(
        "INSERT INTO run_cursor (id, event) VALUES (1, ?)"
        " ON CONFLICT (id) DO UPDATE SET event = max(event, excluded.event)",
        (cursor,),
    )


def _save_run(connection: Connection, run: Run) -> None:
    changes = ", ".join(f"{name} = ?" for name in _RUN_COLUMNS)
    connection.execute(f"UPDATE run SET {changes} WHERE id = ? AND ended_at IS NULL", (*_encode_run(run), run.id))


def _save_step(connection: Connection, run: RunId, step: RunStep) -> None:
    columns, marks = ", ".join(_STEP_COLUMNS), ", ".join("?" * (len(_STEP_COLUMNS) + 1))
    connection.execute(f"INSERT OR REPLACE INTO run_step (run, {columns}) VALUES ({marks})", (run, *astuple(step)))


def _add_signal(connection: Connection, signal: RunSignal) -> RunSignal:
    columns, marks = ", ".join(_SIGNAL_COLUMNS), ", ".join("?" * len(_SIGNAL_COLUMNS))
    values = tuple(value for name, value in asdict(signal).items() if name != "id")
    connection.execute(f"INSERT INTO run_signal ({columns}) VALUES ({marks})", values)
    return replace(signal, id=connection.last_insert_rowid())


def _encode_run(run: Run) -> tuple[Any, ...]:
    fields = asdict(run) | {"facts": encode_json(run.facts)}
    return tuple(fields[name] for name in _RUN_COLUMNS)


def _list_runs(connection: Connection, filters: RunFilter, limit: int) -> list[Run]:
    where, values = build_where({"workflow = ?": filters.workflow, "pane = ?": filters.pane, "at >= ?": filters.since})
    if filters.statuses:
        where += f" AND status IN ({', '.join('?' * len(filters.statuses))})"
    clauses = f"WHERE {where} ORDER BY id DESC LIMIT ?"
    return _RUNS.list(connection, clauses, (*values, *filters.statuses, max(0, limit)))[::-1]

"""Journal of workflow runs. A step is synced to disk before it is executed."""

from typing import Any, cast

import msgspec
from msgspec.structs import asdict, astuple, replace

from termvisor.model.event import Scalar
from termvisor.model.ids import EventId
from termvisor.model.workflow import Run, RunFilter, RunId, RunSignal, RunStep
from termvisor.store.sqlite import table
from termvisor.store.sqlite.database import Connection

_STEP_COLUMNS = RunStep.__struct_fields__
_RUNS = table.RowSelector(Run, "run", decoders={"facts": msgspec.json.Decoder(dict[str, Scalar]).decode})
_STEPS = table.RowSelector(RunStep, "run_step")
_SIGNALS = table.RowSelector(RunSignal, "run_signal")


class WorkflowRunTable(table.StoreTable):
    @table.run_durable_write
    def add(self, connection: Connection, run: Run, cursor: EventId | None = None) -> Run | None:
        """Store a run and the cursor in one transaction; return None if its event already started the workflow."""
        number = table.insert_row(connection, "run", _encode_run(run), or_else="ON CONFLICT DO NOTHING")
        added = replace(run, id=RunId(number)) if connection.changes() else None
        if cursor is not None:
            _advance_cursor(connection, cursor)
        return added

    @table.run_durable_write
    def advance_cursor(self, connection: Connection, cursor: EventId) -> None:
        """Record that events up to this one were matched against the workflows."""
        _advance_cursor(connection, cursor)

    @table.run_read
    def read_cursor(self, connection: Connection) -> EventId | None:
        """Return the last event that was matched against the workflows; None before the first."""
        return cast("EventId | None", connection.execute("SELECT event FROM run_cursor").get)

    @table.run_durable_write
    def save(self, connection: Connection, run: Run) -> None:
        """Update a run; a run that has ended is never changed."""
        columns = _encode_run(run)
        changes = ", ".join(f"{name} = ?" for name in columns)
        connection.execute(f"UPDATE run SET {changes} WHERE id = ? AND ended_at IS NULL", (*columns.values(), run.id))

    @table.run_durable_write
    def save_step(self, connection: Connection, run: RunId, step: RunStep) -> None:
        """Store a step before it is executed, or its result."""
        columns, marks = ", ".join(_STEP_COLUMNS), ", ".join("?" * (len(_STEP_COLUMNS) + 1))
        connection.execute(f"INSERT OR REPLACE INTO run_step (run, {columns}) VALUES ({marks})", (run, *astuple(step)))

    @table.run_durable_write
    def add_signal(self, connection: Connection, signal: RunSignal) -> RunSignal:
        columns = {name: value for name, value in asdict(signal).items() if name != "id"}
        return replace(signal, id=table.insert_row(connection, "run_signal", columns))

    @table.run_read
    def list_signals(self, connection: Connection, run: RunId) -> list[RunSignal]:
        """Return the signals sent to a run, oldest first."""
        return _SIGNALS.list(connection, "WHERE run = ? ORDER BY id", (run,))

    @table.run_read
    def find(self, connection: Connection, run: RunId) -> Run | None:
        return _RUNS.find(connection, "WHERE id = ?", (run,))

    @table.run_read
    def list_steps(self, connection: Connection, run: RunId) -> list[RunStep]:
        """Return the steps of a run in the order of execution."""
        return _STEPS.list(connection, "WHERE run = ? ORDER BY number", (run,))

    @table.run_read
    def list_open(self, connection: Connection) -> list[Run]:
        """Return the runs that have not ended, oldest first."""
        return _RUNS.list(connection, "WHERE ended_at IS NULL ORDER BY id")

    @table.run_read
    def list(self, connection: Connection, filters: RunFilter, limit: int = 20) -> list[Run]:
        """Return the newest matching runs, oldest first."""
        where, values = table.build_where(
            {"workflow = ?": filters.workflow, "pane = ?": filters.pane, "at >= ?": filters.since}
        )
        if filters.statuses:
            where += f" AND status IN ({', '.join('?' * len(filters.statuses))})"
        clauses = f"WHERE {where} ORDER BY id DESC LIMIT ?"
        return _RUNS.list(connection, clauses, (*values, *filters.statuses, max(0, limit)))[::-1]


def _advance_cursor(connection: Connection, cursor: EventId) -> None:
    connection.execute(
        "INSERT INTO run_cursor (id, event) VALUES (1, ?)"
        " ON CONFLICT (id) DO UPDATE SET event = max(event, excluded.event)",
        (cursor,),
    )


def _encode_run(run: Run) -> dict[str, Any]:
    columns = asdict(run) | {"facts": table.encode_json(run.facts)}
    del columns["id"]
    return columns

"""The journal of workflows. A step is on disk before it is taken, also if the power fails right after it."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec.structs import asdict, astuple, replace

from termvisor.model.event import Scalar
from termvisor.model.ids import EventId
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunSignal, RunStep
from termvisor.store.sqlite.database import Connection, Database

_RUN_COLUMNS = tuple(name for name in Run.__struct_fields__ if name != "id")
_STEP_COLUMNS = RunStep.__struct_fields__
_SIGNAL_COLUMNS = tuple(name for name in RunSignal.__struct_fields__ if name != "id")
_FACTS_DECODER = msgspec.json.Decoder(dict[str, Scalar])


class WorkflowRunTable:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None:
        """Begin a run, and in the same transaction move the cursor on; None where its event started it before."""
        return await self._db.write_durably(lambda connection: _add_run(connection, run, cursor))

    async def advance_cursor(self, cursor: EventId) -> None:
        """Events up to this one were offered to the workflows."""
        await self._db.write_durably(lambda connection: _advance_cursor(connection, cursor))

    async def read_cursor(self) -> EventId | None:
        """Up to which event they were; None before the first time."""
        found = await self._db.read(lambda connection: connection.execute("SELECT event FROM run_cursor").get)
        return None if found is None else EventId(cast(int, found))

    async def save(self, run: Run) -> None:
        """How it stands now. A run that ended is never changed again."""
        await self._db.write_durably(lambda connection: _save_run(connection, run))

    async def save_step(self, run: RunId, step: RunStep) -> None:
        """A step that is about to be taken, or what came of it."""
        await self._db.write_durably(lambda connection: _save_step(connection, run, step))

    async def add_signal(self, signal: RunSignal) -> RunSignal:
        return await self._db.write_durably(lambda connection: _add_signal(connection, signal))

    async def list_signals(self, run: RunId) -> list[RunSignal]:
        """Oldest first."""
        return await self._db.read(lambda connection: _list_signals(connection, run))

    async def find(self, run: RunId) -> Run | None:
        return await self._db.read(lambda connection: next(_iterate_runs(connection, "id = ?", (run,)), None))

    async def list_steps(self, run: RunId) -> list[RunStep]:
        """In the order in which the run came to them."""
        return await self._db.read(lambda connection: _list_steps(connection, run))

    async def list_open(self) -> list[Run]:
        """Those that have not ended, in the order in which they began."""
        return await self._db.read(lambda connection: list(_iterate_runs(connection, "ended_at IS NULL", ())))

    async def list(self, filters: RunFilter, limit: int = 20) -> list[Run]:
        """The newest ones, oldest first."""
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
    fields = asdict(run) | {"facts": msgspec.json.encode(run.facts).decode()}
    return tuple(fields[name] for name in _RUN_COLUMNS)


def _iterate_runs(
    connection: Connection, where: str, given: tuple[Any, ...], end: str = "ORDER BY id"
) -> Iterator[Run]:
    rows = connection.execute(f"SELECT id, {', '.join(_RUN_COLUMNS)} FROM run WHERE {where} {end}", given)
    for row in rows:
        fields = dict(zip(("id", *_RUN_COLUMNS), row, strict=True))
        yield Run(**fields | {"facts": _FACTS_DECODER.decode(cast(str, fields["facts"]))})


def _list_steps(connection: Connection, run: RunId) -> list[RunStep]:
    rows = connection.execute(f"SELECT {', '.join(_STEP_COLUMNS)} FROM run_step WHERE run = ? ORDER BY number", (run,))
    return [RunStep(**dict(zip(_STEP_COLUMNS, row, strict=True))) for row in rows]


def _list_signals(connection: Connection, run: RunId) -> list[RunSignal]:
    names = ("id", *_SIGNAL_COLUMNS)
    rows = connection.execute(f"SELECT {', '.join(names)} FROM run_signal WHERE run = ? ORDER BY id", (run,))
    return [RunSignal(**dict(zip(names, row, strict=True))) for row in rows]


def _list_runs(connection: Connection, filters: RunFilter, limit: int) -> list[Run]:
    conditions = {"workflow = ?": filters.workflow, "pane = ?": filters.pane, "at >= ?": filters.since}
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = [*given, f"status IN ({', '.join('?' * len(filters.statuses))})"] if filters.statuses else list(given)
    found = _iterate_runs(
        connection,
        " AND ".join(where) or "TRUE",
        (*given.values(), *filters.statuses, max(0, limit)),
        "ORDER BY id DESC LIMIT ?",
    )
    return list(found)[::-1]

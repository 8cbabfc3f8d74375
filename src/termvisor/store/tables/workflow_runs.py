"""The journal of workflows. A step is on disk before it is taken, also if the power fails right after it."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec.structs import asdict, astuple, replace

from termvisor.model.event import Scalar
from termvisor.model.ids import EventId
from termvisor.model.workflow.run import Run, RunFilter, RunId, RunSignal, Step
from termvisor.store.sqlite.database import Connection, Database

_RUN = tuple(name for name in Run.__struct_fields__ if name != "id")
_STEP = Step.__struct_fields__
_SIGNAL = tuple(name for name in RunSignal.__struct_fields__ if name != "id")
_FACTS = msgspec.json.Decoder(dict[str, Scalar])


class Runs:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, run: Run, cursor: EventId | None = None) -> Run | None:
        """Begin a run, and in the same transaction move the cursor on; None where its event started it before."""
        return await self._db.write_durably(lambda connection: _add(connection, run, cursor))

    async def offered(self, cursor: EventId) -> None:
        """Events up to this one were offered to the workflows."""
        await self._db.write_durably(lambda connection: _move(connection, cursor))

    async def cursor(self) -> EventId | None:
        """Up to which event they were; None before the first time."""
        found = await self._db.read(lambda connection: connection.execute("SELECT event FROM run_cursor").get)
        return None if found is None else EventId(cast(int, found))

    async def save(self, run: Run) -> None:
        """How it stands now. A run that ended is never changed again."""
        await self._db.write_durably(lambda connection: _save(connection, run))

    async def put(self, run: RunId, step: Step) -> None:
        """A step that is about to be taken, or what came of it."""
        await self._db.write_durably(lambda connection: _put(connection, run, step))

    async def say(self, signal: RunSignal) -> RunSignal:
        return await self._db.write_durably(lambda connection: _say(connection, signal))

    async def signals(self, run: RunId) -> list[RunSignal]:
        """Oldest first."""
        return await self._db.read(lambda connection: _signals(connection, run))

    async def one(self, run: RunId) -> Run | None:
        return await self._db.read(lambda connection: next(_runs(connection, "id = ?", (run,)), None))

    async def steps(self, run: RunId) -> list[Step]:
        """In the order in which the run came to them."""
        return await self._db.read(lambda connection: _steps(connection, run))

    async def open(self) -> list[Run]:
        """Those that have not ended, in the order in which they began."""
        return await self._db.read(lambda connection: list(_runs(connection, "ended_at IS NULL", ())))

    async def list(self, only: RunFilter, limit: int = 20) -> list[Run]:
        """The newest ones, oldest first."""
        return await self._db.read(lambda connection: _list(connection, only, limit))


def _add(connection: Connection, run: Run, cursor: EventId | None) -> Run | None:
    columns, marks = ", ".join(_RUN), ", ".join("?" * len(_RUN))
    connection.execute(f"INSERT INTO run ({columns}) VALUES ({marks}) ON CONFLICT DO NOTHING", _values(run))
    added = replace(run, id=RunId(connection.last_insert_rowid())) if connection.changes() else None
    if cursor is not None:
        _move(connection, cursor)
    return added


def _move(connection: Connection, cursor: EventId) -> None:
    connection.execute(
        "INSERT INTO run_cursor (id, event) VALUES (1, ?)"
        " ON CONFLICT (id) DO UPDATE SET event = max(event, excluded.event)",
        (cursor,),
    )


def _save(connection: Connection, run: Run) -> None:
    changes = ", ".join(f"{name} = ?" for name in _RUN)
    connection.execute(f"UPDATE run SET {changes} WHERE id = ? AND ended_at IS NULL", (*_values(run), run.id))


def _put(connection: Connection, run: RunId, step: Step) -> None:
    columns, marks = ", ".join(_STEP), ", ".join("?" * (len(_STEP) + 1))
    connection.execute(f"INSERT OR REPLACE INTO run_step (run, {columns}) VALUES ({marks})", (run, *astuple(step)))


def _say(connection: Connection, signal: RunSignal) -> RunSignal:
    columns, marks = ", ".join(_SIGNAL), ", ".join("?" * len(_SIGNAL))
    values = tuple(value for name, value in asdict(signal).items() if name != "id")
    connection.execute(f"INSERT INTO run_signal ({columns}) VALUES ({marks})", values)
    return replace(signal, id=connection.last_insert_rowid())


def _values(run: Run) -> tuple[Any, ...]:
    fields = asdict(run) | {"facts": msgspec.json.encode(run.facts).decode()}
    return tuple(fields[name] for name in _RUN)


def _runs(connection: Connection, where: str, given: tuple[Any, ...], end: str = "ORDER BY id") -> Iterator[Run]:
    rows = connection.execute(f"SELECT id, {', '.join(_RUN)} FROM run WHERE {where} {end}", given)
    for row in rows:
        fields = dict(zip(("id", *_RUN), row, strict=True))
        yield Run(**fields | {"facts": _FACTS.decode(cast(str, fields["facts"]))})


def _steps(connection: Connection, run: RunId) -> list[Step]:
    rows = connection.execute(f"SELECT {', '.join(_STEP)} FROM run_step WHERE run = ? ORDER BY number", (run,))
    return [Step(**dict(zip(_STEP, row, strict=True))) for row in rows]


def _signals(connection: Connection, run: RunId) -> list[RunSignal]:
    names = ("id", *_SIGNAL)
    rows = connection.execute(f"SELECT {', '.join(names)} FROM run_signal WHERE run = ? ORDER BY id", (run,))
    return [RunSignal(**dict(zip(names, row, strict=True))) for row in rows]


def _list(connection: Connection, only: RunFilter, limit: int) -> list[Run]:
    conditions = {"workflow = ?": only.workflow, "pane = ?": only.pane, "at >= ?": only.since}
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = [*given, f"status IN ({', '.join('?' * len(only.statuses))})"] if only.statuses else list(given)
    found = _runs(
        connection,
        " AND ".join(where) or "TRUE",
        (*given.values(), *only.statuses, max(0, limit)),
        "ORDER BY id DESC LIMIT ?",
    )
    return list(found)[::-1]

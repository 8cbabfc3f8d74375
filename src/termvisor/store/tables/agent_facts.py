"""What states are made of: facts in the order of their ids, and a copy of all that was known after one of them.

Invariant: facts, the states that they led to, the sessions, events and detections of one turn are stored in one
transaction, whole or not at all. Facts after the stored copy never age away, so what is live can always be folded
again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields, replace

from termvisor.log import logger
from termvisor.model.agent.agent_process import Fact
from termvisor.model.agent.read_position import Bookmark
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import Signal
from termvisor.model.agent.state import Projection
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId, SignalId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.events import add_event
from termvisor.store.tables.sessions import put_session

_AT_ONCE = 500
_LEFT = 64
_FACT = msgspec.msgpack.Decoder(Fact)
_PROJECTION = msgspec.msgpack.Decoder(Projection)
_fields = cache(fields)
log = logger("facts")


class Copy(Struct, frozen=True, kw_only=True):
    """``value`` is all that was known after the fact of that id; it is written as it stands when its turn comes."""

    fact: int
    at: int
    value: object


Mark = tuple[int, int]
"""The life of a source, and its own number in it."""


class Published(Struct, frozen=True, kw_only=True):
    """The state of a runtime as it is told from now on, and its life."""

    projection: Projection
    began_at: int
    ended_at: int | None = None


class Turn(Struct, frozen=True, kw_only=True):
    """What is stored at once. Facts come with their ids, which follow the last ones."""

    facts: Sequence[tuple[int, Fact]] = ()
    states: Sequence[Published] = ()
    sessions: Sequence[AgentSession] = ()
    events: Sequence[Event] = ()
    detections: Sequence[Detection] = ()
    marks: Mapping[str, Mark] = {}
    """How far sources are read after this."""
    bookmarks: Sequence[Bookmark] = ()
    """How far files are, likewise."""
    copy: Copy | None = None


class Kept(Struct, frozen=True, kw_only=True):
    """What a daemon begins with."""

    copy: bytes = b""
    copied: int = 0
    """The fact up to which the copy reaches; 0 without one."""
    last_fact: int = 0
    last_runtime: int = 0
    last_session: int = 0
    states: tuple[Projection, ...] = ()
    """Of the runtimes that had not ended, as they were last published."""
    left: tuple[Published, ...] = ()
    """The last runtimes that ended, the newest first."""
    marks: dict[str, Mark] = {}
    bookmarks: tuple[Bookmark, ...] = ()
    """Of runtimes that had not ended."""


class Facts:
    def __init__(self, db: Database):
        self._db = db

    async def add(self, turn: Turn) -> list[Event]:
        """Store one turn; its events with their ids."""
        return await self._db.write(lambda connection: _add(connection, turn))

    async def kept(self) -> Kept:
        return await self._db.read(_kept)

    async def after(self, fact: int) -> list[tuple[int, Fact]]:
        """The next facts beyond this one, not all at once; none at the end."""
        return await self._db.read(lambda connection: _after(connection, fact))

    async def signals(self, ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        """Those that are still kept."""
        wanted = sorted(set(ids))
        return await self._db.read(lambda connection: dict(_signals(connection, wanted)))


def encoded(fact: Fact) -> bytes:
    """Without what is as it mostly is: there are many of them."""
    told = {
        field.encode_name: value
        for field in _fields(type(fact))
        if (value := getattr(fact, field.name)) != field.default and not (field.default is NODEFAULT and value == {})
    }
    return msgspec.msgpack.encode({"type": type(fact).__name__} | told)


def decoded(number: int, body: bytes) -> Fact | None:
    """None for one of a kind that this version does not know: it is told in the log and left out."""
    try:
        fact = _FACT.decode(body)
    except msgspec.ValidationError as error:
        log.error("fact %d cannot be read: %s", number, error)
        return None
    return replace(fact, id=SignalId(number)) if isinstance(fact, Signal) else fact


def instant(fact: Fact) -> int:
    return fact.ingested_at if isinstance(fact, Signal) else fact.at


def _add(connection: Connection, turn: Turn) -> list[Event]:
    connection.executemany(
        "INSERT INTO fact (id, at, body) VALUES (?, ?, ?)",
        [(number, instant(fact), encoded(fact)) for number, fact in turn.facts],
    )
    _put_bookmarks(connection, turn.bookmarks)  # before the ends, with which they go
    for one in turn.states:
        _publish(connection, one)
    for session in turn.sessions:
        put_session(connection, session)
    connection.executemany(
        "INSERT OR REPLACE INTO reading (source, life, seq) VALUES (?, ?, ?)",
        [(source, *mark) for source, mark in turn.marks.items()],
    )
    if turn.copy is not None:
        row = (turn.copy.fact, turn.copy.at, msgspec.msgpack.encode(turn.copy.value))
        connection.execute("INSERT OR REPLACE INTO knowledge (id, fact, at, body) VALUES (1, ?, ?, ?)", row)
    events = [add_event(connection, event) for event in turn.events]
    return events + add_detections(connection, turn.detections)


def _put_bookmarks(connection: Connection, bookmarks: Sequence[Bookmark]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO bookmark (runtime, watch, body) VALUES (?, ?, ?)",
        [(one.runtime, one.watch, one.body) for one in bookmarks],
    )


def _publish(connection: Connection, one: Published) -> None:
    told, state = one.projection, one.projection.state
    connection.execute(
        "INSERT INTO runtime (id, pane, began_at, ended_at, version, state) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET"
        " ended_at = excluded.ended_at, version = excluded.version, state = excluded.state",
        (state.runtime, state.pane, one.began_at, one.ended_at, told.version, msgspec.msgpack.encode(told)),
    )
    if one.ended_at is not None:
        connection.execute("DELETE FROM bookmark WHERE runtime = ?", (state.runtime,))


def _kept(connection: Connection) -> Kept:
    copy = connection.execute("SELECT fact, body FROM knowledge").fetchone() or (0, b"")
    living = connection.execute("SELECT state FROM runtime WHERE ended_at IS NULL ORDER BY id")
    marks = connection.execute("SELECT source, life, seq FROM reading")
    bookmarks = connection.execute("SELECT runtime, watch, body FROM bookmark")
    left = connection.execute(
        "SELECT state, began_at, ended_at FROM runtime WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT ?", (_LEFT,)
    )
    return Kept(
        copied=int(cast("int", copy[0])),
        copy=cast("bytes", copy[1]),
        last_fact=_last(connection, "fact"),
        last_runtime=_last(connection, "runtime"),
        last_session=_last(connection, "agent_session"),
        marks={name: (life, seq) for name, life, seq in cast("Iterator[tuple[str, int, int]]", marks)},
        bookmarks=tuple(
            Bookmark(runtime=runtime, watch=watch, body=body)
            for runtime, watch, body in cast("Iterator[tuple[RuntimeId, str, bytes]]", bookmarks)
        ),
        states=tuple(_PROJECTION.decode(body) for (body,) in cast("Iterator[tuple[bytes]]", living)),
        left=tuple(
            Published(projection=_PROJECTION.decode(body), began_at=began, ended_at=ended)
            for body, began, ended in cast("Iterator[tuple[bytes, int, int]]", left)
        ),
    )


def _last(connection: Connection, table: str) -> int:
    """The newest id that was ever given."""
    found: int | None = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).get
    return found or 0


def _after(connection: Connection, fact: int) -> list[tuple[int, Fact]]:
    rows = connection.execute("SELECT id, body FROM fact WHERE id > ? ORDER BY id LIMIT ?", (fact, _AT_ONCE))
    return list(_readable(cast("Iterator[tuple[int, bytes]]", rows)))


def _readable(rows: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Fact]]:
    for number, body in rows:
        if (fact := decoded(number, body)) is not None:
            yield number, fact


def _signals(connection: Connection, ids: Sequence[SignalId]) -> Iterator[tuple[SignalId, Signal]]:
    for number in ids:
        body: bytes | None = connection.execute("SELECT body FROM fact WHERE id = ?", (number,)).get
        fact: Any = decoded(number, body) if body is not None else None
        if isinstance(fact, Signal):
            yield number, fact

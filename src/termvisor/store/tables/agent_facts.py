"""Store the facts from which agent states are computed, and the latest checkpoint of the reducer.

Invariant: the facts, states, sessions, events and detections of one batch are stored in one transaction. Retention
never deletes facts after the checkpoint, so the current states can always be computed again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from termvisor.log import get_logger
from termvisor.model.agent.agent_process import Fact
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.signal import ReadPosition, Signal
from termvisor.model.agent.state import StateProjection
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import RuntimeId, SignalId
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import StoreTable, read_last_id, run_read, run_write
from termvisor.store.tables.detections import add_detections
from termvisor.store.tables.events import add_event
from termvisor.store.tables.sessions import put_session

_FACTS_PER_PAGE = 500
_MAX_EXITED_PROCESSES = 64
_FACT_DECODER = msgspec.msgpack.Decoder(Fact)
_PROJECTION_DECODER = msgspec.msgpack.Decoder(StateProjection)
_get_struct_fields = cache(fields)
log = get_logger("facts")


class FactCheckpoint(Struct, frozen=True, kw_only=True):
    """State of the reducer after the fact with that id. ``value`` is encoded in the writer thread."""

    fact: int
    at: int
    value: object


SourcePosition = tuple[int, int]
"""Incarnation of a source, and the sequence number within that incarnation."""


class PublishedState(Struct, frozen=True, kw_only=True):
    """The published state of an agent process, and when the process began and ended."""

    projection: StateProjection
    began_at: int
    ended_at: int | None = None


class FactBatch(Struct, frozen=True, kw_only=True):
    """Everything to store in one transaction. Facts already have ids, which continue the stored ones."""

    facts: Sequence[tuple[int, Fact]] = ()
    states: Sequence[PublishedState] = ()
    sessions: Sequence[AgentSession] = ()
    events: Sequence[Event] = ()
    detections: Sequence[Detection] = ()
    marks: Mapping[str, SourcePosition] = {}
    """Positions of signal sources after this batch."""
    bookmarks: Sequence[ReadPosition] = ()
    """Positions in agents' files after this batch."""
    copy: FactCheckpoint | None = None


class StoredAgentState(Struct, frozen=True, kw_only=True):
    """Everything that the daemon restores at startup."""

    copy: bytes = b""
    checkpoint_fact: int = 0
    """The last fact that the checkpoint includes; 0 if there is no checkpoint."""
    last_fact: int = 0
    last_runtime: int = 0
    last_session: int = 0
    states: tuple[StateProjection, ...] = ()
    """Last published states of the agent processes that had not ended."""
    exited: tuple[PublishedState, ...] = ()
    """The last agent processes that ended, newest first."""
    marks: dict[str, SourcePosition] = {}
    bookmarks: tuple[ReadPosition, ...] = ()
    """Positions in the files of agent processes that had not ended."""


class AgentFactTable(StoreTable):
    @run_write
    def add(self, connection: Connection, batch: FactBatch) -> list[Event]:
        """Store one batch; return its events with their ids."""
        connection.executemany(
            "INSERT INTO fact (id, at, body) VALUES (?, ?, ?)",
            [(number, get_fact_time(fact), encode_fact(fact)) for number, fact in batch.facts],
        )
        # Before the states: the state of an ended process deletes its read positions.
        connection.executemany(
            "INSERT OR REPLACE INTO bookmark (runtime, watch, body) VALUES (?, ?, ?)",
            [(position.runtime, position.watch, position.body) for position in batch.bookmarks],
        )
        for published in batch.states:
            _publish_state(connection, published)
        for session in batch.sessions:
            put_session(connection, session)
        connection.executemany(
            "INSERT OR REPLACE INTO reading (source, life, seq) VALUES (?, ?, ?)",
            [(source, *mark) for source, mark in batch.marks.items()],
        )
        if batch.copy is not None:
            row = (batch.copy.fact, batch.copy.at, msgspec.msgpack.encode(batch.copy.value))
            connection.execute("INSERT OR REPLACE INTO knowledge (id, fact, at, body) VALUES (1, ?, ?, ?)", row)
        events = [add_event(connection, event) for event in batch.events]
        return events + add_detections(connection, batch.detections)

    @run_read
    def load_state(self, connection: Connection) -> StoredAgentState:
        checkpoint = connection.execute("SELECT fact, body FROM knowledge").fetchone() or (0, b"")
        running = connection.execute("SELECT state FROM runtime WHERE ended_at IS NULL ORDER BY id")
        marks = connection.execute("SELECT source, life, seq FROM reading")
        bookmarks = connection.execute("SELECT runtime, watch, body FROM bookmark")
        exited = connection.execute(
            "SELECT state, began_at, ended_at FROM runtime WHERE ended_at IS NOT NULL ORDER BY id DESC LIMIT ?",
            (_MAX_EXITED_PROCESSES,),
        )
        return StoredAgentState(
            checkpoint_fact=int(cast("int", checkpoint[0])),
            copy=cast("bytes", checkpoint[1]),
            last_fact=read_last_id(connection, "fact"),
            last_runtime=read_last_id(connection, "runtime"),
            last_session=read_last_id(connection, "agent_session"),
            marks={name: (life, seq) for name, life, seq in cast("Iterator[tuple[str, int, int]]", marks)},
            bookmarks=tuple(
                ReadPosition(runtime=runtime, watch=watch, body=body)
                for runtime, watch, body in cast("Iterator[tuple[RuntimeId, str, bytes]]", bookmarks)
            ),
            states=tuple(_PROJECTION_DECODER.decode(body) for (body,) in cast("Iterator[tuple[bytes]]", running)),
            exited=tuple(
                PublishedState(projection=_PROJECTION_DECODER.decode(body), began_at=began, ended_at=ended)
                for body, began, ended in cast("Iterator[tuple[bytes, int, int]]", exited)
            ),
        )

    @run_read
    def list_after(self, connection: Connection, fact_id: int) -> list[tuple[int, Fact]]:
        """Return one page of the facts after this id; empty at the end."""
        rows = connection.execute(
            "SELECT id, body FROM fact WHERE id > ? ORDER BY id LIMIT ?", (fact_id, _FACTS_PER_PAGE)
        )
        return list(_decode_facts(cast("Iterator[tuple[int, bytes]]", rows)))

    @run_read
    def find_signals(self, connection: Connection, ids: Iterable[SignalId]) -> dict[SignalId, Signal]:
        """Return the given signals that are still stored."""
        unique_ids = sorted(set(ids))
        return dict(_find_signals(connection, unique_ids))


def encode_fact(fact: Fact) -> bytes:
    """Encode a fact without the fields that have their default value, to save space: there are many facts."""
    fields = {
        field.encode_name: value
        for field in _get_struct_fields(type(fact))
        if (value := getattr(fact, field.name)) not in (field.default, {})
    }
    return msgspec.msgpack.encode({"type": type(fact).__struct_config__.tag} | fields)


def decode_fact(fact_id: int, body: bytes) -> Fact | None:
    """Decode a fact; log and return None if this version does not support its kind."""
    try:
        fact = _FACT_DECODER.decode(body)
    except msgspec.ValidationError as error:
        # Written by a newer version before a downgrade: one unknown fact must not keep the daemon from starting.
        log.error("fact %d cannot be read: %s", fact_id, error)
        return None
    return replace(fact, id=SignalId(fact_id)) if isinstance(fact, Signal) else fact


def get_fact_time(fact: Fact) -> int:
    return fact.ingested_at if isinstance(fact, Signal) else fact.at


def _publish_state(connection: Connection, published: PublishedState) -> None:
    projection, state = published.projection, published.projection.state
    body = msgspec.msgpack.encode(projection)
    connection.execute(
        "INSERT INTO runtime (id, pane, began_at, ended_at, version, state) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET"
        " ended_at = excluded.ended_at, version = excluded.version, state = excluded.state",
        (state.runtime, state.pane, published.began_at, published.ended_at, projection.version, body),
    )
    if published.ended_at is not None:
        connection.execute("DELETE FROM bookmark WHERE runtime = ?", (state.runtime,))


def _decode_facts(rows: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, Fact]]:
    for number, body in rows:
        if (fact := decode_fact(number, body)) is not None:
            yield number, fact


def _find_signals(connection: Connection, ids: Sequence[SignalId]) -> Iterator[tuple[SignalId, Signal]]:
    for number in ids:
        body: bytes | None = connection.execute("SELECT body FROM fact WHERE id = ?", (number,)).get
        fact: Any = decode_fact(number, body) if body is not None else None
        if isinstance(fact, Signal):
            yield number, fact

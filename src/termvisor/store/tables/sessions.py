"""Store agent sessions, one row each; an open session is updated in place."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, SessionId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.rows import build_where, replace_surrogates

_SESSION_DECODER = msgspec.msgpack.Decoder(AgentSession)


class SessionTable:
    def __init__(self, db: Database):
        self._db = db

    async def list_open(self) -> list[AgentSession]:
        """Return the sessions that have not ended."""
        return await self._db.read(lambda connection: _select(connection, "WHERE ended_at IS NULL ORDER BY id"))

    async def list(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        """Return the newest sessions that had not ended before ``since``, oldest first."""
        where, values = build_where({"pane = ?": pane, "agent = ?": agent, "coalesce(ended_at, 1 << 62) >= ?": since})
        clauses = f"WHERE {where} ORDER BY id DESC LIMIT ?"
        return await self._db.read(lambda connection: _select(connection, clauses, (*values, max(0, limit)))[::-1])

    async def find(self, session: SessionId) -> AgentSession | None:
        return await self._db.read(lambda connection: _find_session(connection, session))

    async def fill_missing_fields(
        self, session: SessionId, external_id: str, resume: tuple[str, ...], tokens: Mapping[str, int]
    ) -> AgentSession | None:
        """Add the id, resume command and token counts that an ended session lacks; return the stored session.

        Known fields are never changed; returns None if there is no such session.
        """
        return await self._db.write(
            lambda connection: _fill_missing_fields(connection, session, (external_id, resume), tokens)
        )


def put_session(connection: Connection, session: AgentSession) -> None:
    """Insert or update a session by its id, inside the caller's transaction."""
    row = (
        session.id,
        session.runtime,
        session.pane,
        session.agent,
        session.external_id,
        session.started_at,
        session.ended_at,
        msgspec.msgpack.encode(session),
    )
    connection.execute(
        "INSERT INTO agent_session (id, runtime, pane, agent, external_id, started_at, ended_at, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " external_id = excluded.external_id, ended_at = excluded.ended_at, body = excluded.body",
        row,
    )


def _select(connection: Connection, clauses: str, values: Sequence[Any] = ()) -> list[AgentSession]:
    rows = connection.execute(f"SELECT body FROM agent_session {clauses}", values)
    return [_SESSION_DECODER.decode(body) for (body,) in rows]


def _find_session(connection: Connection, session: int) -> AgentSession | None:
    return next(iter(_select(connection, "WHERE id = ?", (session,))), None)


def _fill_missing_fields(
    connection: Connection, session: int, name: tuple[str, tuple[str, ...]], tokens: Mapping[str, int]
) -> AgentSession | None:
    stored = _find_session(connection, session)
    if stored is None or stored.ended_at is None:
        return stored
    missing = {
        count: value for count, value in tokens.items() if getattr(stored.usage, count, 0) is None and value >= 0
    }
    filled = replace(
        stored, usage=replace(stored.usage, **missing), reported_usage=replace(stored.reported_usage, **missing)
    )
    if not stored.external_id:
        external_id, resume = name
        filled = replace(
            filled, external_id=replace_surrogates(external_id), resume=tuple(map(replace_surrogates, resume))
        )
    if filled != stored:
        put_session(connection, filled)
    return filled

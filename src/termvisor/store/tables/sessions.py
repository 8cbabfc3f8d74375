"""Store agent sessions, one row each; an open session is updated in place."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, SessionId
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import StoreTable, build_where, replace_surrogates, run_read, run_write

_SESSION_DECODER = msgspec.msgpack.Decoder(AgentSession)


class SessionTable(StoreTable):
    @run_read
    def list_open(self, connection: Connection) -> list[AgentSession]:
        """Return the sessions that have not ended."""
        return _select(connection, "WHERE ended_at IS NULL ORDER BY id")

    @run_read
    def list(
        self,
        connection: Connection,
        *,
        pane: PaneId | None = None,
        agent: str | None = None,
        since: int | None = None,
        limit: int = 20,
    ) -> list[AgentSession]:
        """Return the newest sessions that had not ended before ``since``, oldest first."""
        where, values = build_where({"pane = ?": pane, "agent = ?": agent, "coalesce(ended_at, 1 << 62) >= ?": since})
        clauses = f"WHERE {where} ORDER BY id DESC LIMIT ?"
        return _select(connection, clauses, (*values, max(0, limit)))[::-1]

    @run_read
    def find(self, connection: Connection, session: SessionId) -> AgentSession | None:
        return _find_session(connection, session)

    @run_write
    def fill_missing_fields(
        self,
        connection: Connection,
        session: SessionId,
        external_id: str,
        resume: tuple[str, ...],
        tokens: Mapping[str, int],
    ) -> AgentSession | None:
        """Add the id, resume command and token counts that an ended session lacks; return the stored session.

        Known fields are never changed; returns None if there is no such session.
        """
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
            filled = replace(
                filled, external_id=replace_surrogates(external_id), resume=tuple(map(replace_surrogates, resume))
            )
        if filled != stored:
            put_session(connection, filled)
        return filled


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

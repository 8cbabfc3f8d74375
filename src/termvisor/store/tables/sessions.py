"""The conversations of agents, one row each. A session that goes on is written again as it is now."""

from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId, SessionId
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.sqlite.text_encoding import replace_surrogates

_SESSION_DECODER = msgspec.msgpack.Decoder(AgentSession)


class SessionTable:
    def __init__(self, db: Database):
        self._db = db

    async def list_open(self) -> list[AgentSession]:
        """Those that have not ended."""
        return await self._db.read(_list_open)

    async def list(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        """The newest ones that were not over before ``since``, oldest first."""
        conditions = {"pane = ?": pane, "agent = ?": agent, "coalesce(ended_at, 1 << 62) >= ?": since}
        return await self._db.read(lambda connection: _list_sessions(connection, conditions, limit))

    async def find(self, session: SessionId) -> AgentSession | None:
        return await self._db.read(lambda connection: _find_session(connection, session))

    async def fill_missing_fields(
        self, session: SessionId, external_id: str, resume: tuple[str, ...], tokens: Mapping[str, int]
    ) -> AgentSession | None:
        """Fill in what is not known of one that is over: nothing that is known is changed. As it stands then."""
        return await self._db.write(
            lambda connection: _fill_missing_fields(connection, session, (external_id, resume), tokens)
        )


def put_session(connection: Connection, session: AgentSession) -> None:
    """A new one, or the same as it is now; its id is given."""
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


def _list_sessions(connection: Connection, conditions: dict[str, Any], limit: int) -> list[AgentSession]:
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = " AND ".join(given) or "TRUE"
    rows = connection.execute(
        f"SELECT id, body FROM agent_session WHERE {where} ORDER BY id DESC LIMIT ?", (*given.values(), max(0, limit))
    ).fetchall()
    return [
        _SESSION_DECODER.decode(body) for _, body in sorted(cast("list[tuple[int, bytes]]", rows), key=itemgetter(0))
    ]


def _find_session(connection: Connection, session: int) -> AgentSession | None:
    row = connection.execute("SELECT body FROM agent_session WHERE id = ?", (session,)).fetchone()
    return None if row is None else _SESSION_DECODER.decode(cast("bytes", row[0]))


def _fill_missing_fields(
    connection: Connection, session: int, name: tuple[str, tuple[str, ...]], tokens: Mapping[str, int]
) -> AgentSession | None:
    known = _find_session(connection, session)
    if known is None or known.ended_at is None:
        return known
    more = {count: value for count, value in tokens.items() if getattr(known.usage, count, 0) is None and value >= 0}
    fuller = replace(known, usage=replace(known.usage, **more), told=replace(known.told, **more))
    if not known.external_id:
        fuller = replace(
            fuller, external_id=replace_surrogates(name[0]), resume=tuple(map(replace_surrogates, name[1]))
        )
    if fuller != known:
        put_session(connection, fuller)
    return fuller


def _list_open(connection: Connection) -> list[AgentSession]:
    rows = connection.execute("SELECT body FROM agent_session WHERE ended_at IS NULL ORDER BY id")
    return [_SESSION_DECODER.decode(body) for (body,) in cast("Iterator[tuple[bytes]]", rows)]

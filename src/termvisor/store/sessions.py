"""The conversations of agents, one row each. A session that goes on is written again as it is now."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, cast

import msgspec

from termvisor.model.ids import PaneId
from termvisor.model.session import AgentSession
from termvisor.store.db import Connection, Database

_SESSION = msgspec.msgpack.Decoder(AgentSession)


class Sessions:
    def __init__(self, db: Database):
        self._db = db

    async def open(self) -> list[AgentSession]:
        """Those that have not ended."""
        return await self._db.read(_open)

    async def list(
        self, *, pane: PaneId | None = None, agent: str | None = None, since: int | None = None, limit: int = 20
    ) -> list[AgentSession]:
        """The newest ones that were not over before ``since``, oldest first."""
        conditions = {"pane = ?": pane, "agent = ?": agent, "coalesce(ended_at, 1 << 62) >= ?": since}
        return await self._db.read(lambda connection: _list(connection, conditions, limit))


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


def _list(connection: Connection, conditions: dict[str, Any], limit: int) -> list[AgentSession]:
    given = {condition: value for condition, value in conditions.items() if value is not None}
    where = " AND ".join(given) or "TRUE"
    rows = connection.execute(
        f"SELECT id, body FROM agent_session WHERE {where} ORDER BY id DESC LIMIT ?", (*given.values(), max(0, limit))
    ).fetchall()
    return [_SESSION.decode(body) for _, body in sorted(cast("list[tuple[int, bytes]]", rows), key=itemgetter(0))]


def _open(connection: Connection) -> list[AgentSession]:
    rows = connection.execute("SELECT body FROM agent_session WHERE ended_at IS NULL ORDER BY id")
    return [_SESSION.decode(body) for (body,) in cast("Iterator[tuple[bytes]]", rows)]

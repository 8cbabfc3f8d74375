"""Store every pane ever seen, one row for each pane instance. An instance keeps its id; ids are never reused."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from termvisor.errors import InternalError
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import StoreTable, encode_json, run_read, run_write

_SELECT_PANE = """
SELECT pane.id, target, socket, server.pid, started, boot, backend, mux_id, generation, facts, first_seen_at, gone_at,
       last_output_at, next_line - 1,
       (SELECT count(*) FROM gap WHERE gap.pane = pane.id AND gap.cause != 'tail_uncertain'),
       (SELECT total(coalesce(size, committed)) FROM epoch WHERE epoch.pane = pane.id)
FROM pane JOIN server ON server.id = pane.server
"""
_MISSED_DETAIL = "it was opened and closed between two listings of its server"
_FACTS_DECODER = msgspec.json.Decoder(PaneFacts)


class StoredPane(Struct, frozen=True, kw_only=True):
    """A pane, existing or gone, with its counters. ``bytes_heard`` counts the bytes captured in all its epochs."""

    id: PaneId
    instance: PaneInstance
    facts: PaneFacts
    first_seen_at: int
    gone_at: int | None = None
    last_output_at: int | None = None
    lines: int = 0
    gaps: int = 0
    bytes_heard: int = 0


class PaneTable(StoreTable):
    @run_write
    def find_or_add(
        self, connection: Connection, instance: PaneInstance, facts: PaneFacts, at: int
    ) -> tuple[PaneId, bool]:
        """Return the id of this instance and True if it is new; an existing pane is marked as present again."""
        server = _find_or_add_server(connection, instance.server)
        pane: PaneId | None = connection.execute(
            "SELECT id FROM pane WHERE server = ? AND mux_id = ? AND generation = ?",
            (server, instance.mux_id, instance.generation),
        ).get
        if pane is not None:
            connection.execute("UPDATE pane SET gone_at = NULL WHERE id = ?", (pane,))
            _update_facts(connection, pane, facts, at)
            return pane, False
        row = (server, instance.mux_id, instance.generation, encode_json(facts), at, at)
        connection.execute(
            "INSERT INTO pane (server, mux_id, generation, facts, first_seen_at, last_seen_at)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            row,
        )
        return PaneId(connection.last_insert_rowid()), True

    @run_read
    def find_newest(self, connection: Connection, server: ServerInstance, mux_id: MuxPaneId) -> StoredPane | None:
        """Return the newest instance of a pane, even if it is gone."""
        row = connection.execute(
            f"{_SELECT_PANE} WHERE pane.server = ? AND mux_id = ? ORDER BY generation DESC LIMIT 1",
            (_find_server(connection, server), mux_id),
        ).fetchone()
        return _build_pane(row) if row else None

    @run_write
    def add_missed(
        self, connection: Connection, server: ServerInstance, mux_ids: Sequence[MuxPaneId], since: int, at: int
    ) -> None:
        """Store panes that came and went between two listings, with a gap over that time. Known ones are skipped."""
        row_id = _find_or_add_server(connection, server)
        for mux_id in mux_ids:
            facts = encode_json(PaneFacts(mux_id=mux_id, pid=0, dead=True))
            connection.execute(
                "INSERT INTO pane (server, mux_id, generation, facts, first_seen_at, last_seen_at, gone_at)"
                " SELECT ?1, ?2, 0, ?3, ?4, ?5, ?5"
                " WHERE NOT EXISTS (SELECT 1 FROM pane WHERE server = ?1 AND mux_id = ?2)",
                (row_id, mux_id, facts, since, at),
            )
            if connection.changes():
                connection.execute(
                    "INSERT INTO gap (pane, cause, start_at, end_at, detail) VALUES (?, 'link_down', ?, ?, ?)",
                    (connection.last_insert_rowid(), since, at, _MISSED_DETAIL),
                )

    @run_write
    def update(self, connection: Connection, pane: PaneId, facts: PaneFacts, at: int) -> None:
        _update_facts(connection, pane, facts, at)

    @run_write
    def mark_gone(self, connection: Connection, pane: PaneId, at: int) -> None:
        """Mark a pane as gone and end its open gaps; a pane that is already gone keeps its original time."""
        connection.execute("UPDATE pane SET gone_at = ? WHERE id = ? AND gone_at IS NULL", (at, pane))
        connection.execute("UPDATE gap SET end_at = max(?, start_at) WHERE pane = ? AND end_at IS NULL", (at, pane))

    @run_read
    def find_highest_mux_number(self, connection: Connection, server: ServerInstance) -> int | None:
        """Return the highest pane number (5 for `%5`) ever stored for a server; None if no pane of it is stored."""
        number: int | None = connection.execute(
            "SELECT max(CAST(substr(mux_id, 2) AS INTEGER)) FROM pane WHERE server = ?",
            (_find_server(connection, server),),
        ).get
        return number

    @run_write
    def adopt_server(self, connection: Connection, server: ServerInstance) -> None:
        """Note the boot of a running server that was stored without one."""
        if _find_server(connection, server) is not None:
            _find_or_add_server(connection, server)

    @run_read
    def find(self, connection: Connection, pane: PaneId) -> StoredPane | None:
        """Return a pane by its id, even if it is gone."""
        row = connection.execute(f"{_SELECT_PANE} WHERE pane.id = ?", (pane,)).fetchone()
        return _build_pane(row) if row else None

    @run_read
    def list_panes(self, connection: Connection, *, include_gone: bool = False) -> list[StoredPane]:
        """Return the existing panes (with ``include_gone``, all panes), ordered by id."""
        where = "" if include_gone else "WHERE gone_at IS NULL "
        return [_build_pane(row) for row in connection.execute(f"{_SELECT_PANE} {where}ORDER BY pane.id")]


def _find_server(connection: Connection, server: ServerInstance) -> int | None:
    """Return the row of a server: the one of its boot, else one that was stored without a boot."""
    row_id: int | None = connection.execute(
        "SELECT id FROM server WHERE target = ?1 AND socket = ?2 AND pid = ?3 AND started = ?4"
        " AND (boot = ?5 OR boot = '' OR ?5 = '') ORDER BY boot = ?5 DESC, id DESC LIMIT 1",
        (server.target, server.socket, server.pid, server.started, server.boot),
    ).get
    return row_id


def _find_or_add_server(connection: Connection, server: ServerInstance) -> int:
    row_id = _find_server(connection, server)
    if row_id is None:
        connection.execute(
            "INSERT INTO server (target, socket, pid, started, boot, backend) VALUES (?, ?, ?, ?, ?, ?)",
            (server.target, server.socket, server.pid, server.started, server.boot, server.backend),
        )
        return connection.last_insert_rowid()
    if server.boot:
        connection.execute("UPDATE server SET boot = ? WHERE id = ? AND boot = ''", (server.boot, row_id))
    return row_id


def _update_facts(connection: Connection, pane: PaneId, facts: PaneFacts, at: int) -> None:
    connection.execute(
        "UPDATE pane SET facts = ?, last_seen_at = max(last_seen_at, ?) WHERE id = ?",
        (encode_json(facts), at, pane),
    )
    if not connection.changes():
        raise InternalError(f"pane {pane} not found in the database")


def _build_pane(row: tuple[Any, ...]) -> StoredPane:
    pane, target, socket, pid, started, boot, backend, mux_id, generation, *rest = row
    facts, first_seen, gone, last_output, lines, gaps, captured_bytes = rest
    return StoredPane(
        id=pane,
        instance=PaneInstance(ServerInstance(target, socket, pid, started, boot, backend), mux_id, generation),
        facts=_FACTS_DECODER.decode(facts),
        first_seen_at=first_seen,
        gone_at=gone,
        last_output_at=last_output,
        lines=lines,
        gaps=gaps,
        bytes_heard=int(captured_bytes),
    )

"""Store every pane ever seen, one row for each pane instance. An instance keeps its id; ids are never reused."""

from typing import Any

import msgspec
from msgspec import Struct

from termvisor.errors import InternalError
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import StoreTable, encode_json, run_read, run_write

_SELECT_PANE = """
SELECT pane.id, target, socket, server.pid, started, mux_id, generation, facts, first_seen_at, gone_at, last_output_at,
       next_line - 1,
       (SELECT count(*) FROM gap WHERE gap.pane = pane.id),
       (SELECT total(coalesce(size, committed)) FROM epoch WHERE epoch.pane = pane.id)
FROM pane JOIN server ON server.id = pane.server
"""
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
        key = (server.target, server.socket, server.pid, server.started, mux_id)
        where = "WHERE target = ? AND socket = ? AND server.pid = ? AND started = ? AND mux_id = ?"
        row = connection.execute(f"{_SELECT_PANE} {where} ORDER BY generation DESC LIMIT 1", key).fetchone()
        return _build_pane(row) if row else None

    @run_write
    def update(self, connection: Connection, pane: PaneId, facts: PaneFacts, at: int) -> None:
        _update_facts(connection, pane, facts, at)

    @run_write
    def mark_gone(self, connection: Connection, pane: PaneId, at: int) -> None:
        """Mark a pane as gone and end its open gaps; a pane that is already gone keeps its original time."""
        connection.execute("UPDATE pane SET gone_at = ? WHERE id = ? AND gone_at IS NULL", (at, pane))
        connection.execute("UPDATE gap SET end_at = max(?, start_at) WHERE pane = ? AND end_at IS NULL", (at, pane))

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


def _find_or_add_server(connection: Connection, server: ServerInstance) -> int:
    key = (server.target, server.socket, server.pid, server.started)
    row_id: int | None = connection.execute(
        "SELECT id FROM server WHERE target = ? AND socket = ? AND pid = ? AND started = ?", key
    ).get
    if row_id is not None:
        return row_id
    connection.execute("INSERT INTO server (target, socket, pid, started) VALUES (?, ?, ?, ?)", key)
    return connection.last_insert_rowid()


def _update_facts(connection: Connection, pane: PaneId, facts: PaneFacts, at: int) -> None:
    connection.execute(
        "UPDATE pane SET facts = ?, last_seen_at = max(last_seen_at, ?) WHERE id = ?",
        (encode_json(facts), at, pane),
    )
    if not connection.changes():
        raise InternalError(f"pane {pane} not found in the database")


def _build_pane(row: tuple[Any, ...]) -> StoredPane:
    pane, target, socket, pid, started, mux_id, generation, *rest = row
    facts, first_seen, gone, last_output, lines, gaps, captured_bytes = rest
    return StoredPane(
        id=pane,
        instance=PaneInstance(ServerInstance(target, socket, pid, started), mux_id, generation),
        facts=_FACTS_DECODER.decode(facts),
        first_seen_at=first_seen,
        gone_at=gone,
        last_output_at=last_output,
        lines=lines,
        gaps=gaps,
        bytes_heard=int(captured_bytes),
    )

"""Queries that the search engine runs on one consistent view: candidates, surrounding lines, panes by name."""

from collections.abc import Iterator
from typing import Literal, get_args

from termvisor.model.detection.rule import Severity
from termvisor.model.ids import PaneId, ScreenId
from termvisor.model.terminal.output import Line
from termvisor.store.sqlite.database import Connection
from termvisor.store.tables.indexed_table import INDEXED_TABLES, IdRange, merge_ranges
from termvisor.store.tables.output import SELECT_BLOCK, StoredBlock, build_blocks, read_first_lines
from termvisor.store.tables.screens import read_screen

SearchPool = Literal["block", "sighting", "utterance"]
"""Searchable tables: lines of the output stream, rows of full-screen programs, messages of agent transcripts."""
# Each selects the fields of a `StoredBlock`.
_SELECT_TEXT: dict[SearchPool, str] = {
    "block": SELECT_BLOCK,
    "sighting": "SELECT sighting.id, sighting.pane, epoch, 0, 1, first_at, last_at, 'screen', sighting.text, screen"
    " FROM sighting",
    "utterance": "SELECT utterance.id, utterance.pane, 0, 0, 1, at, at, 'transcript', utterance.text, NULL, role, agent"
    " FROM utterance",
}
DetectionField = Literal["event", "rule", "severity"]
_DETECTION_CONDITIONS: dict[DetectionField, str] = {
    "event": "type GLOB ?",
    "rule": "rule GLOB ?",
    "severity": "severity >= ?",
}
_SEVERITIES: tuple[str, ...] = get_args(Severity)
_SERVERS = "pane JOIN server ON server.id = pane.server"
_NAME_COLUMNS = {
    "session": ("facts ->> 'session_name'", "pane"),
    "target": ("target", _SERVERS),
    "agent": ("agent", "agent_session"),
    "event": ("type", "detection"),
    "rule": ("rule", "detection"),
}
"""Where the names of each filter are stored."""
_PANE_COLUMNS = {"session": "id", "target": "pane.id", "agent": "pane"}


class SearchReader:
    """Search queries on an open connection; valid only inside the callable that `Store.read` runs."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def iterate_newest(self, pool: SearchPool, match: str, id_range: IdRange) -> Iterator[StoredBlock]:
        """Iterate over the rows in the range that match an FTS5 query, newest first."""
        query = (
            f"{_SELECT_TEXT[pool]} JOIN {pool}_fts ON {pool}_fts.rowid = {pool}.id"
            f" WHERE {pool}_fts MATCH ? AND {pool}_fts.rowid BETWEEN ? AND ? ORDER BY {pool}_fts.rowid DESC"
        )
        return build_blocks(self._connection.execute(query, (match, *id_range)))

    def list_best(self, pool: SearchPool, match: str, id_range: IdRange, limit: int) -> list[tuple[float, int]]:
        """Return the score (lower is better) and id of the newest ``limit`` matches in the range."""
        query = (
            f"SELECT bm25({pool}_fts, 1.0, 0.0), rowid FROM {pool}_fts"
            f" WHERE {pool}_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?"
        )
        return list(self._connection.execute(query, (match, *id_range, limit)))

    def read_block(self, pool: SearchPool, number: int) -> StoredBlock:
        return next(build_blocks(self._connection.execute(f"{_SELECT_TEXT[pool]} WHERE id = ?", (number,))))

    def list_id_ranges(self, pool: SearchPool, since: int | None, until: int | None) -> list[IdRange]:
        """Return id ranges that contain all rows in this time range, newest first; they may contain other rows too."""
        return INDEXED_TABLES[pool].list_id_ranges(self._connection, since, until)

    def list_screen_id_ranges(self) -> list[IdRange]:
        """Return the id ranges of the blocks made from baseline screens, newest first."""
        rows = self._connection.execute("SELECT id FROM block WHERE source = 'screen' ORDER BY id DESC")
        return merge_ranges((row_id, row_id) for (row_id,) in rows)

    def read_lines_around(self, line: Line, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the texts of at most ``count`` lines before and after this one in its pane."""
        first, last = line.number - count, line.number + count
        near = read_first_lines(self._connection, line.pane, first - 1, last + 1, 2 * count + 1)
        before = tuple(each.text for each in near if each.number < line.number)
        return before, tuple(each.text for each in near if each.number > line.number)

    def read_rows_around(self, screen: ScreenId, text: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the rows of a screen above and below this one; empty if the screen was deleted."""
        stored = read_screen(self._connection, screen)
        if stored is None or text not in stored.rows:
            return (), ()
        index = stored.rows.index(text)
        return stored.rows[max(0, index - count) : index], stored.rows[index + 1 : index + 1 + count]

    def read_message_lines_around(
        self, utterance: int, index: int, count: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the lines of a transcript message before and after the one at ``index``."""
        text: str | None = self._connection.execute("SELECT text FROM utterance WHERE id = ?", (utterance,)).get
        lines = (text or "").split("\n")
        return tuple(lines[max(0, index - count) : index]), tuple(lines[index + 1 : index + 1 + count])

    def find_detected_lines(self, kind: DetectionField, pattern: str, limit: int) -> list[tuple[PaneId, str]]:
        """Return the panes and lines of the newest matching detections that have a text."""
        value = _SEVERITIES.index(pattern) if kind == "severity" else pattern
        query = (
            f"SELECT pane, context FROM detection WHERE {_DETECTION_CONDITIONS[kind]} AND context <> ''"
            " ORDER BY event DESC LIMIT ?"
        )
        rows = self._connection.execute(query, (value, limit))
        return [(pane, context.rpartition("\n")[2]) for pane, context in rows]

    def find_panes_by(self, kind: str, name: str) -> frozenset[PaneId]:
        """Return the panes of a session, of a target, or in which an agent is or was running."""
        column, table = _NAME_COLUMNS[kind]
        query = f"SELECT DISTINCT {_PANE_COLUMNS[kind]} FROM {table} WHERE {column} = ?"
        return frozenset(pane for (pane,) in self._connection.execute(query, (name,)))

    def has_pane(self, pane: PaneId) -> bool:
        """Return True if this pane was ever seen."""
        # As text: a number in a query may be larger than any integer of SQLite.
        return self._connection.execute("SELECT 1 FROM pane WHERE id = ?", (str(pane),)).get is not None

    def list_names(self, kind: str) -> list[str]:
        """Return the stored names that a filter of this kind may have."""
        column, table = _NAME_COLUMNS[kind]
        return [name for (name,) in self._connection.execute(f"SELECT DISTINCT {column} FROM {table}")]

"""What a search asks of the database, on one consistent view of it: candidates, neighbours, panes by name."""

from collections.abc import Iterator
from typing import Literal, cast, get_args

from termvisor.model.detection.rule import Severity
from termvisor.model.ids import PaneId, ScreenId
from termvisor.model.terminal.output import Line
from termvisor.store.sqlite.database import Connection
from termvisor.store.tables.lines import SELECT_BLOCK, StoredBlock, build_blocks, read_first_lines
from termvisor.store.tables.pipeline_commit import TIME_BUCKET_BITS
from termvisor.store.tables.screen_rows import read_screen

SearchPool = Literal["block", "sighting", "utterance"]
"""Where text is looked for: lines of streams in their blocks, rows of screens, what was said to agents and by them."""
IdRange = tuple[int, int]
"""First and last id of blocks that follow each other."""

_ALL_IDS: IdRange = (0, (1 << 63) - 1)
_SELECT_SIGHTING = (
    "SELECT sighting.id, sighting.pane, epoch, 0, 1, first_at, last_at, 'screen', sighting.text, screen FROM sighting"
)
_SELECT_UTTERANCE = (
    "SELECT utterance.id, utterance.pane, 0, 0, 1, at, at, 'transcript', utterance.text, NULL, role, agent"
    " FROM utterance"
)
_SELECT_TEXT: dict[SearchPool, str] = {
    "block": SELECT_BLOCK,
    "sighting": _SELECT_SIGHTING,
    "utterance": _SELECT_UTTERANCE,
}
_SELECT_NEWEST: dict[SearchPool, str] = {
    "block": f"{SELECT_BLOCK} JOIN block_fts ON block_fts.rowid = block.id"
    " WHERE block_fts MATCH ? AND block_fts.rowid BETWEEN ? AND ? ORDER BY block_fts.rowid DESC",
    "sighting": f"{_SELECT_SIGHTING} JOIN sighting_fts ON sighting_fts.rowid = sighting.id"
    " WHERE sighting_fts MATCH ? AND sighting_fts.rowid BETWEEN ? AND ? ORDER BY sighting_fts.rowid DESC",
    "utterance": f"{_SELECT_UTTERANCE} JOIN utterance_fts ON utterance_fts.rowid = utterance.id"
    " WHERE utterance_fts MATCH ? AND utterance_fts.rowid BETWEEN ? AND ? ORDER BY utterance_fts.rowid DESC",
}
_SELECT_BEST: dict[SearchPool, str] = {
    "block": "SELECT bm25(block_fts, 1.0, 0.0), rowid FROM block_fts"
    " WHERE block_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
    "sighting": "SELECT bm25(sighting_fts, 1.0, 0.0), rowid FROM sighting_fts"
    " WHERE sighting_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
    "utterance": "SELECT bm25(utterance_fts, 1.0, 0.0), rowid FROM utterance_fts"
    " WHERE utterance_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
}
_SELECT_TIME_BUCKETS: dict[SearchPool, str] = {
    "block": "SELECT shelf FROM block_time WHERE until >= ? AND at <= ? ORDER BY shelf DESC",
    "sighting": "SELECT shelf FROM sighting_time WHERE until >= ? AND at <= ? ORDER BY shelf DESC",
    "utterance": "SELECT shelf FROM utterance_time WHERE until >= ? AND at <= ? ORDER BY shelf DESC",
}


DetectionField = Literal["event", "rule", "severity"]
_SELECT_DETECTED: dict[DetectionField, str] = {
    kind: f"SELECT pane, context FROM detection WHERE {which} AND context <> '' ORDER BY event DESC LIMIT ?"
    for kind, which in cast(
        "dict[DetectionField, str]", {"event": "type GLOB ?", "rule": "rule GLOB ?", "severity": "severity >= ?"}
    ).items()
}
_SEVERITIES: tuple[str, ...] = get_args(Severity)


class SearchReader:
    """Lives as long as the callable that `Store.read` hands it to."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def iterate_newest(self, pool: SearchPool, match: str, id_range: IdRange) -> Iterator[StoredBlock]:
        """What matches the index query in the span, newest first, as far as it is asked for."""
        return build_blocks(self._connection.execute(_SELECT_NEWEST[pool], (match, *id_range)))

    def list_best(self, pool: SearchPool, match: str, id_range: IdRange, limit: int) -> list[tuple[float, int]]:
        """The newest ``most`` matches in the span: score (less is better) and id."""
        return list(self._connection.execute(_SELECT_BEST[pool], (match, *id_range, limit)))

    def read_block(self, pool: SearchPool, number: int) -> StoredBlock:
        return next(build_blocks(self._connection.execute(f"{_SELECT_TEXT[pool]} WHERE id = ?", (number,))))

    def list_id_ranges(self, pool: SearchPool, since: int | None, until: int | None) -> list[IdRange]:
        """Where what was printed or shown in that time lies, newest first; a span may hold others too."""
        if since is None and until is None:
            return [_ALL_IDS]
        rows = self._connection.execute(
            _SELECT_TIME_BUCKETS[pool],
            (_ALL_IDS[0] if since is None else since, _ALL_IDS[1] if until is None else until),
        )
        return _merge_time_buckets([shelf for (shelf,) in rows])

    def list_screen_id_ranges(self) -> list[IdRange]:
        """Where the blocks lie that are what a pane showed when its epoch began, newest first."""
        spans: list[IdRange] = []
        for (number,) in self._connection.execute("SELECT id FROM block WHERE source = 'screen' ORDER BY id DESC"):
            if spans and spans[-1][0] == number + 1:
                spans[-1] = number, spans[-1][1]
            else:
                spans.append((number, number))
        return spans

    def read_lines_around(self, line: Line, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts of at most ``count`` lines before and after this one in its pane."""
        first, last = line.number - count, line.number + count
        near = read_first_lines(self._connection, line.pane, first - 1, last + 1, 2 * count + 1)
        before = tuple(each.text for each in near if each.number < line.number)
        return before, tuple(each.text for each in near if each.number > line.number)

    def read_rows_around(self, screen: ScreenId, text: str, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The rows of a screen above and below this one; none when the screen is no longer kept."""
        found = read_screen(self._connection, screen)
        if found is None or text not in found.rows:
            return (), ()
        at = found.rows.index(text)
        return found.rows[max(0, at - count) : at], found.rows[at + 1 : at + 1 + count]

    def read_message_lines_around(
        self, utterance: int, index: int, count: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines of what was said before and after this one of them."""
        text: str | None = self._connection.execute("SELECT text FROM utterance WHERE id = ?", (utterance,)).get
        lines = (text or "").split("\n")
        return tuple(lines[max(0, index - count) : index]), tuple(lines[index + 1 : index + 1 + count])

    def find_detected_lines(self, kind: DetectionField, pattern: str, limit: int) -> list[tuple[PaneId, str]]:
        """The panes and lines in which the newest such events were found, where they were found in a text."""
        value = _SEVERITIES.index(pattern) if kind == "severity" else pattern
        rows = self._connection.execute(_SELECT_DETECTED[kind], (value, limit))
        return [(pane, context.rpartition("\n")[2]) for pane, context in rows]

    def find_panes_of_agent(self, name: str) -> frozenset[PaneId]:
        return self._find_panes("SELECT DISTINCT pane FROM agent_session WHERE agent = ?", name)

    def find_panes_in_session(self, name: str) -> frozenset[PaneId]:
        return self._find_panes("SELECT id FROM pane WHERE facts ->> 'session_name' = ?", name)

    def find_panes_on_target(self, name: str) -> frozenset[PaneId]:
        return self._find_panes(
            "SELECT pane.id FROM pane JOIN server ON server.id = pane.server WHERE target = ?", name
        )

    def _find_panes(self, query: str, name: str) -> frozenset[PaneId]:
        return frozenset(pane for (pane,) in self._connection.execute(query, (name,)))


def _merge_time_buckets(buckets: list[int]) -> list[IdRange]:
    spans: list[IdRange] = []
    for shelf in buckets:
        first, last = shelf << TIME_BUCKET_BITS, (shelf + 1 << TIME_BUCKET_BITS) - 1
        if spans and spans[-1][0] == last + 1:
            spans[-1] = first, spans[-1][1]
        else:
            spans.append((first, last))
    return spans

"""What a search asks of the database, on one consistent view of it: candidates, neighbours, panes by name."""

from collections.abc import Iterator

from termvisor.model.ids import PaneId
from termvisor.model.output import Line
from termvisor.store.commit import SHELF
from termvisor.store.db import Connection
from termvisor.store.lines import BLOCK, StoredBlock, blocks, first_lines

Span = tuple[int, int]
"""First and last id of blocks that follow each other."""

_EVERYTHING: Span = (0, (1 << 63) - 1)


class Reading:
    """Lives as long as the callable that `Store.read` hands it to."""

    def __init__(self, connection: Connection):
        self._connection = connection

    def newest(self, match: str, span: Span) -> Iterator[StoredBlock]:
        """Blocks in the span that match the index query, newest first, as far as they are asked for."""
        return blocks(
            self._connection.execute(
                f"{BLOCK} JOIN block_fts ON block_fts.rowid = block.id"
                " WHERE block_fts MATCH ? AND block_fts.rowid BETWEEN ? AND ? ORDER BY block_fts.rowid DESC",
                (match, *span),
            )
        )

    def best(self, match: str, span: Span, pool: int) -> list[tuple[float, int]]:
        """The newest ``pool`` matching blocks of the span: score (less is better) and id."""
        rows = self._connection.execute(
            "SELECT bm25(block_fts, 1.0, 0.0), rowid FROM block_fts"
            " WHERE block_fts MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC LIMIT ?",
            (match, *span, pool),
        )
        return list(rows)

    def block(self, number: int) -> StoredBlock:
        return next(blocks(self._connection.execute(f"{BLOCK} WHERE id = ?", (number,))))

    def spans(self, since: int | None, until: int | None) -> list[Span]:
        """Where blocks of that time lie, newest first; a span may hold others too."""
        if since is None and until is None:
            return [_EVERYTHING]
        rows = self._connection.execute(
            "SELECT shelf FROM block_time WHERE until >= ? AND at <= ? ORDER BY shelf DESC",
            (_EVERYTHING[0] if since is None else since, _EVERYTHING[1] if until is None else until),
        )
        return _merged([shelf for (shelf,) in rows])

    def around(self, line: Line, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The texts of at most ``count`` lines before and after this one in its pane."""
        first, last = line.number - count, line.number + count
        near = first_lines(self._connection, line.pane, first - 1, last + 1, 2 * count + 1)
        before = tuple(each.text for each in near if each.number < line.number)
        return before, tuple(each.text for each in near if each.number > line.number)

    def panes_in_session(self, name: str) -> frozenset[PaneId]:
        return self._panes("SELECT id FROM pane WHERE facts ->> 'session_name' = ?", name)

    def panes_on_target(self, name: str) -> frozenset[PaneId]:
        return self._panes("SELECT pane.id FROM pane JOIN server ON server.id = pane.server WHERE target = ?", name)

    def _panes(self, query: str, name: str) -> frozenset[PaneId]:
        return frozenset(pane for (pane,) in self._connection.execute(query, (name,)))


def _merged(shelves: list[int]) -> list[Span]:
    spans: list[Span] = []
    for shelf in shelves:
        first, last = shelf << SHELF, (shelf + 1 << SHELF) - 1
        if spans and spans[-1][0] == last + 1:
            spans[-1] = first, spans[-1][1]
        else:
            spans.append((first, last))
    return spans

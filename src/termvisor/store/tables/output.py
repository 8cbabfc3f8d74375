"""Store captured output: epochs and their progress, gaps between them, text blocks and marks."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd, EpochSource, Gap, Line, Mark
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import RowSelector, StoreTable, build_where, run_read, run_write
from termvisor.store.tables.commands import mark_running_lost
from termvisor.store.tables.lines import read_first_lines, read_last_lines
from termvisor.store.tables.pipeline_commit import CommitResult, EpochUpdate, commit_batch

_EPOCHS = RowSelector(Epoch, "epoch", columns={"next_line": "(SELECT next_line FROM pane WHERE pane.id = epoch.pane)"})
_GAPS = RowSelector(Gap, "gap", columns={"after": "after_epoch", "before": "before_epoch"})
_PARAMS_DECODER = msgspec.json.Decoder(dict[str, str])


class OutputTable(StoreTable):
    @run_write
    def open_epoch(self, connection: Connection, pane: PaneId, source: EpochSource, at: int) -> EpochId:
        connection.execute("INSERT INTO epoch (pane, source, opened_at) VALUES (?, ?, ?)", (pane, source, at))
        return EpochId(connection.last_insert_rowid())

    @run_write
    def close_epoch(
        self, connection: Connection, epoch: EpochId, ended_by: EpochEnd, at: int, size: int, *, gap: Gap | None = None
    ) -> None:
        """Close an epoch of ``size`` bytes and store the gap after it. Raises InternalError if it is not open."""
        connection.execute(
            "UPDATE epoch SET closed_at = ?, ended_by = ?, size = ? WHERE id = ? AND closed_at IS NULL",
            (at, ended_by, size, epoch),
        )
        if not connection.changes():
            raise InternalError(f"epoch {epoch} is not open")
        mark_running_lost(connection, epoch, size)
        if gap is not None:
            _record_gap(connection, gap)

    async def list_open_epochs(self) -> list[Epoch]:
        return await self._list_epochs("closed_at IS NULL")

    async def list_unfinished_epochs(self) -> list[Epoch]:
        """Return closed epochs whose bytes are not all converted to text yet."""
        return await self._list_epochs("closed_at IS NOT NULL AND committed < size")

    async def list_doubtful_epochs(self) -> list[Epoch]:
        """Return the epochs whose text has to be derived again; see `DerivedTextTable`."""
        return await self._list_epochs("id IN (SELECT epoch FROM text_to_derive)")

    async def list_epochs(self, pane: PaneId) -> list[Epoch]:
        return await self._list_epochs("pane = ?", pane)

    @run_write
    def record_gap(self, connection: Connection, gap: Gap) -> Gap:
        """Store a gap; return it with its id."""
        return _record_gap(connection, gap)

    @run_write
    def end_gaps(self, connection: Connection, pane: PaneId, before: EpochId | None, at: int) -> None:
        """End the open gaps of a pane, because epoch ``before`` captures it again or (None) because it is gone."""
        connection.execute(
            "UPDATE gap SET end_at = max(start_at, ?), before_epoch = ? WHERE pane = ? AND end_at IS NULL",
            (at, before, pane),
        ).fetchall()

    @run_read
    def list_gaps(self, connection: Connection, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        """Return gaps ordered by start; with ``since``, only those that had not ended by then."""
        where, values = build_where({"pane = ?": pane, "coalesce(end_at, 1 << 62) >= ?": since})
        return _GAPS.list(connection, f"WHERE {where} ORDER BY start_at, id", values)

    @run_write
    def commit(self, connection: Connection, batch: Sequence[EpochUpdate]) -> CommitResult:
        """Store a batch in one transaction."""
        return commit_batch(connection, batch)

    async def read_lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Return lines with ``after < number < before``: the first ones if ``after`` is given, else the last ones."""
        if after is None:
            return await self._db.read(lambda connection: read_last_lines(connection, pane, before, limit))
        start = after
        return await self._db.read(lambda connection: read_first_lines(connection, pane, start, before, limit))

    @run_read
    def find_last_line_number(self, connection: Connection, pane: PaneId) -> int:
        """Return the number of the newest line, 0 if there is none."""
        number: int | None = connection.execute("SELECT next_line - 1 FROM pane WHERE id = ?", (pane,)).get
        return number or 0

    @run_read
    def list_marks(self, connection: Connection, pane: PaneId, *, limit: int = 50) -> list[tuple[int, Mark]]:
        """Return the newest marks of a pane with their times, oldest first."""
        rows = connection.execute(
            'SELECT at, kind, "offset", text, exit_code, params FROM mark WHERE pane = ? ORDER BY id DESC LIMIT ?',
            (pane, max(0, limit)),
        )
        return [_build_mark(row) for row in rows][::-1]

    @run_read
    def _list_epochs(self, connection: Connection, where: str, *values: int) -> list[Epoch]:
        return _EPOCHS.list(connection, f"WHERE {where} ORDER BY id", values)


def _record_gap(connection: Connection, gap: Gap) -> Gap:
    connection.execute(
        "INSERT INTO gap (pane, cause, start_at, end_at, after_epoch, before_epoch, detail)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (gap.pane, gap.cause, gap.start_at, gap.end_at, gap.after, gap.before, gap.detail),
    )
    return replace(gap, id=connection.last_insert_rowid())


def _build_mark(row: tuple[Any, ...]) -> tuple[int, Mark]:
    at, kind, offset, text, exit_code, params = row
    return at, Mark(kind=kind, offset=offset, text=text, exit_code=exit_code, params=_PARAMS_DECODER.decode(params))

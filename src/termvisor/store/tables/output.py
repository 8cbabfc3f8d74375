"""What panes printed: epochs and their progress, gaps between them, blocks of lines, marks."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Epoch, EpochEnd, EpochSource, Gap, Line
from termvisor.store.sqlite.database import Connection, Database
from termvisor.store.tables.commands import mark_running_lost
from termvisor.store.tables.lines import read_first_lines, read_last_lines
from termvisor.store.tables.pipeline_commit import CommitResult, EpochUpdate, commit_batch

_SELECT_EPOCH = "SELECT id, pane, source, opened_at, closed_at, ended_by, committed, size, carry FROM epoch WHERE"
_SELECT_GAP = "SELECT id, pane, cause, start_at, end_at, after_epoch, before_epoch, detail FROM gap"
_PARAMS_DECODER = msgspec.json.Decoder(dict[str, str])


class OutputTable:
    def __init__(self, db: Database):
        self._db = db

    async def open_epoch(self, pane: PaneId, source: EpochSource, at: int) -> EpochId:
        return await self._db.write(lambda connection: _open_epoch(connection, pane, source, at))

    async def close_epoch(
        self, epoch: EpochId, ended_by: EpochEnd, at: int, size: int, *, gap: Gap | None = None
    ) -> None:
        """No more bytes will come; ``size`` is how many came. An epoch closes once, together with the gap after it."""
        await self._db.write(lambda connection: _close_epoch(connection, epoch, (at, ended_by, size), gap))

    async def list_open_epochs(self) -> list[Epoch]:
        return await self._list_epochs("closed_at IS NULL")

    async def list_unfinished_epochs(self) -> list[Epoch]:
        """Closed, but not all of their bytes were made into text yet."""
        return await self._list_epochs("closed_at IS NOT NULL AND committed < size")

    async def list_epochs(self, pane: PaneId) -> list[Epoch]:
        return await self._list_epochs("pane = ?", pane)

    async def record_gap(self, gap: Gap) -> Gap:
        """Store a gap; the same gap with its id."""
        return await self._db.write(lambda connection: _record_gap(connection, gap))

    async def end_gaps(self, pane: PaneId, before: EpochId | None, at: int) -> None:
        """The pane is heard again, in this epoch, or is gone: its open gaps end, none before it began."""
        await self._db.write(
            lambda connection: connection.execute(
                "UPDATE gap SET end_at = max(start_at, ?), before_epoch = ? WHERE pane = ? AND end_at IS NULL",
                (at, before, pane),
            ).fetchall()
        )

    async def list_gaps(self, *, pane: PaneId | None = None, since: int | None = None) -> list[Gap]:
        """By their start; with ``since`` those that last until then or longer."""
        return await self._db.read(lambda connection: _list_gaps(connection, pane, since))

    async def commit(self, batch: Sequence[EpochUpdate]) -> CommitResult:
        """Store a batch in one transaction."""
        return await self._db.write(lambda connection: commit_batch(connection, batch))

    async def read_lines(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Lines with ``after < number < before``: the first ones when ``after`` is given, else the last ones."""
        if after is None:
            return await self._db.read(lambda connection: read_last_lines(connection, pane, before, limit))
        start = after
        return await self._db.read(lambda connection: read_first_lines(connection, pane, start, before, limit))

    async def find_last_line_number(self, pane: PaneId) -> int:
        """The number of the newest line, 0 when there is none."""
        return await self._db.read(lambda connection: _find_last_line_number(connection, pane))

    async def list_marks(self, pane: PaneId, *, limit: int = 50) -> list[tuple[int, Mark]]:
        """The newest marks of a pane with their times, oldest first."""
        return await self._db.read(lambda connection: _list_marks(connection, pane, limit))

    async def _list_epochs(self, where: str, *values: int) -> list[Epoch]:
        return await self._db.read(
            lambda connection: [
                _build_epoch(row) for row in connection.execute(f"{_SELECT_EPOCH} {where} ORDER BY id", values)
            ]
        )


def _open_epoch(connection: Connection, pane: PaneId, source: EpochSource, at: int) -> EpochId:
    connection.execute("INSERT INTO epoch (pane, source, opened_at) VALUES (?, ?, ?)", (pane, source, at))
    return EpochId(connection.last_insert_rowid())


def _close_epoch(connection: Connection, epoch: EpochId, end: tuple[int, EpochEnd, int], gap: Gap | None) -> None:
    connection.execute(
        "UPDATE epoch SET closed_at = ?, ended_by = ?, size = ? WHERE id = ? AND closed_at IS NULL", (*end, epoch)
    )
    if not connection.changes():
        raise InternalError(f"epoch {epoch} is not open")
    mark_running_lost(connection, epoch, end[2])
    if gap is not None:
        _record_gap(connection, gap)


def _record_gap(connection: Connection, gap: Gap) -> Gap:
    connection.execute(
        "INSERT INTO gap (pane, cause, start_at, end_at, after_epoch, before_epoch, detail)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (gap.pane, gap.cause, gap.start_at, gap.end_at, gap.after, gap.before, gap.detail),
    )
    return replace(gap, id=connection.last_insert_rowid())


def _list_gaps(connection: Connection, pane: PaneId | None, since: int | None) -> list[Gap]:
    of_pane = "TRUE" if pane is None else "pane = :pane"
    lasting = "TRUE" if since is None else "(end_at IS NULL OR end_at >= :since)"
    values = {"pane": pane, "since": since}
    rows = connection.execute(f"{_SELECT_GAP} WHERE {of_pane} AND {lasting} ORDER BY start_at, id", values)
    return [_build_gap(row) for row in rows]


def _find_last_line_number(connection: Connection, pane: PaneId) -> int:
    found = connection.execute("SELECT next_line - 1 FROM pane WHERE id = ?", (pane,)).fetchone()
    return int(found[0]) if found else 0


def _list_marks(connection: Connection, pane: PaneId, limit: int) -> list[tuple[int, Mark]]:
    rows = connection.execute(
        'SELECT at, kind, "offset", text, exit_code, params FROM mark WHERE pane = ? ORDER BY id DESC LIMIT ?',
        (pane, max(0, limit)),
    )
    return [_build_mark(row) for row in rows][::-1]


def _build_epoch(row: tuple[Any, ...]) -> Epoch:
    epoch, pane, source, opened_at, closed_at, ended_by, committed, size, carry = row
    return Epoch(
        id=epoch,
        pane=pane,
        source=source,
        opened_at=opened_at,
        closed_at=closed_at,
        ended_by=ended_by,
        committed=committed,
        size=size,
        carry=carry,
    )


def _build_gap(row: tuple[Any, ...]) -> Gap:
    gap, pane, cause, start_at, end_at, after, before, detail = row
    return Gap(
        id=gap, pane=pane, cause=cause, start_at=start_at, end_at=end_at, after=after, before=before, detail=detail
    )


def _build_mark(row: tuple[Any, ...]) -> tuple[int, Mark]:
    at, kind, offset, text, exit_code, params = row
    return at, Mark(kind=kind, offset=offset, text=text, exit_code=exit_code, params=_PARAMS_DECODER.decode(params))

"""Store captured output: epochs and their progress, gaps between them, text blocks and marks.

The pipeline commits what it derived together with the offset up to which it was computed, so nothing is stored twice.
Stored in one transaction: text blocks and their index, marks, commands, events and detections, the epoch's offset and
carry, the pane's next line number. To read numbered lines, only the blocks that contain them are read.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.agent.session import MessageRole
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId, ScreenId
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.output import Epoch, EpochEnd, EpochSource, Gap, Line, Mark, TextBlock, TextSource
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import (
    RowSelector,
    StoreTable,
    build_where,
    encode_json,
    replace_surrogates,
    run_read,
    run_write,
)
from termvisor.store.tables.commands import mark_running_lost, save_command_update, set_output_boundary
from termvisor.store.tables.detections import add_detection
from termvisor.store.tables.events import add_event
from termvisor.store.tables.indexed_table import BLOCKS

_EPOCHS = RowSelector(Epoch, "epoch", columns={"next_line": "(SELECT next_line FROM pane WHERE pane.id = epoch.pane)"})
_GAPS = RowSelector(Gap, "gap", columns={"after": "after_epoch", "before": "before_epoch"})
_PARAMS_DECODER = msgspec.json.Decoder(dict[str, str])
SELECT_BLOCK = "SELECT block.id, block.pane, epoch, first_line, line_count, at, until, source, block.text FROM block"
_SELECT_FIRST_BLOCK = "SELECT coalesce(max(first_line), 0) FROM block WHERE pane = ? AND first_line <= ?"
_MAX_LINE_NUMBER = (1 << 63) - 1


class StreamDetection(Struct, frozen=True):
    """A detection in the stream. ``lines_before`` is the number of lines before it in this update.

    ``event`` replaces the event that is normally built from the detection.
    """

    detection: Detection
    lines_before: int | None = None
    event: Event | None = None


class EpochUpdate(Struct, frozen=True, kw_only=True):
    """Everything computed from the bytes of one epoch up to ``committed``. Each mark has its time.

    Each command boundary has the number of lines before it in this update.
    """

    pane: PaneId
    epoch: EpochId
    committed: int
    carry: bytes = b""
    blocks: tuple[TextBlock, ...] = ()
    marks: tuple[tuple[int, Mark], ...] = ()
    commands: tuple[CommandUpdate, ...] = ()
    edges: tuple[tuple[CommandBoundary, int], ...] = ()
    events: tuple[Event | StreamDetection, ...] = ()
    """Events and detections, in the order in which they happened."""


class CommitResult(Struct, frozen=True):
    """The last line number of each pane of a batch, and the stored events with their ids."""

    last_lines: dict[PaneId, int]
    events: tuple[Event, ...] = ()


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


def commit_batch(connection: Connection, batch: Sequence[EpochUpdate]) -> CommitResult:
    """Store a batch inside the caller's transaction. Raises InternalError if an offset would move backwards."""
    last_lines: dict[PaneId, int] = {}
    events: list[Event] = []
    for update in batch:
        _advance_epoch(connection, update)
        first_line: int = connection.execute("SELECT next_line FROM pane WHERE id = ?", (update.pane,)).get
        last_lines[update.pane] = _add_output(connection, update, first_line)
        stored = (_store_event(connection, item, first_line) for item in update.events)
        events += [event for event in stored if event is not None]
    return CommitResult(last_lines, tuple(events))


def _advance_epoch(connection: Connection, update: EpochUpdate) -> None:
    # The condition on the offset makes a batch that is stored twice an error instead of doubled lines.
    connection.execute(
        "UPDATE epoch SET committed = ?1, carry = ?2 WHERE id = ?3 AND pane = ?4 AND committed <= ?1",
        (update.committed, update.carry, update.epoch, update.pane),
    )
    if not connection.changes():
        raise InternalError(
            f"epoch {update.epoch} of pane {update.pane} is missing or already beyond {update.committed}"
        )


def _store_event(connection: Connection, item: Event | StreamDetection, first_line: int) -> Event | None:
    if isinstance(item, Event):
        return add_event(connection, item)
    detection = item.detection
    if item.lines_before is not None:
        detection = replace(detection, evidence=detection.evidence | {"line": first_line + item.lines_before})
    return add_detection(connection, detection, item.event)


def _add_output(connection: Connection, update: EpochUpdate, first_line: int) -> int:
    """Store blocks, marks and commands; return the pane's last line number."""
    next_line = first_line
    blocks = [block for block in update.blocks if block.lines]
    if blocks:
        next_line = _add_blocks(connection, update.pane, blocks, first_line)
    _add_marks(connection, update)
    _add_commands(connection, update, first_line)
    last_output_at = max([block.until for block in blocks] + [at for at, _ in update.marks], default=None)
    connection.execute(
        "UPDATE pane SET next_line = ?, last_output_at = coalesce(max(last_output_at, ?2), ?2, last_output_at)"
        " WHERE id = ?3",
        (next_line, last_output_at, update.pane),
    )
    return next_line - 1


def _add_blocks(connection: Connection, pane: PaneId, blocks: list[TextBlock], first_line: int) -> int:
    """Store blocks and index their text; return the number of the line after them."""
    first_id: int = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM block").get
    rows, indexed = [], []
    # Ids are assigned here, so that the rows and their index entries need one statement each.
    for row_id, block in enumerate(blocks, first_id):
        text, count = join_block_text(block), len(block.lines)
        position = (block.start, block.end, block.at, block.until, block.source)
        rows.append((row_id, pane, block.epoch, first_line, count, *position, text))
        indexed.append((row_id, text, pane))
        first_line += count
    connection.executemany("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    BLOCKS.add_texts(connection, indexed)
    BLOCKS.extend_times(connection, ((row_id, block.at, block.until) for row_id, block in enumerate(blocks, first_id)))
    return first_line


def _add_marks(connection: Connection, update: EpochUpdate) -> None:
    connection.executemany(
        'INSERT INTO mark (pane, epoch, "offset", at, kind, text, exit_code, params) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        [(update.pane, update.epoch, mark.offset, at, *_encode_mark(mark)) for at, mark in update.marks],
    )


def _add_commands(connection: Connection, update: EpochUpdate, first_line: int) -> None:
    for command in update.commands:
        texts = {"line": _encode_optional_text(command.line), "cwd": _encode_optional_text(command.cwd)}
        save_command_update(connection, update.pane, update.epoch, replace(command, **texts))
    for boundary, lines_before in update.edges:
        set_output_boundary(connection, update.epoch, boundary, first_line + lines_before)


def _encode_optional_text(text: str | None) -> str | None:
    return None if text is None else replace_surrogates(text)


def _encode_mark(mark: Mark) -> tuple[str, str, int | None, str]:
    return mark.kind, replace_surrogates(mark.text), mark.exit_code, encode_json(mark.params)


def join_block_text(block: TextBlock) -> str:
    """Return the text of a block as it is stored. Raises InternalError if a line contains a newline."""
    text = "\n".join(block.lines)
    if text.count("\n") != len(block.lines) - 1:
        raise InternalError(f"a line of epoch {block.epoch} at offset {block.start} contains a newline")
    return replace_surrogates(text)


class StoredBlock(Struct, frozen=True):
    """A stored text block; its lines are numbered from ``first_line``.

    Searches also return screen rows and transcript messages as blocks: a screen row is one line without a number that
    was visible from ``at`` until ``until``.
    """

    id: int
    pane: PaneId
    epoch: EpochId
    first_line: int
    line_count: int
    at: int
    until: int
    source: TextSource
    text: str
    screen: ScreenId | None = None
    """For a screen row: the first screen that showed it."""
    role: MessageRole | None = None
    """For a transcript message: who wrote it."""
    agent: str = ""
    """For a transcript message: the agent in the conversation."""

    def build_line(self, index: int, text: str) -> Line:
        return Line(
            pane=self.pane,
            number=self.first_line + index,
            at=self.estimate_time(index),
            text=text,
            epoch=self.epoch,
            source=self.source,
        )

    def estimate_time(self, index: int) -> int:
        """Interpolate the time of a line between the first and last time of the block."""
        return self.at + (self.until - self.at) * index // max(1, self.line_count - 1)

    def split_lines(self) -> list[Line]:
        return [self.build_line(index, text) for index, text in enumerate(self.text.split("\n"))]


def build_blocks(rows: Iterator[tuple[Any, ...]]) -> Iterator[StoredBlock]:
    return (StoredBlock(*row) for row in rows)


def read_first_lines(connection: Connection, pane: PaneId, after: int, before: int | None, limit: int) -> list[Line]:
    """Return the first lines with ``after < number < before``."""
    start = connection.execute(_SELECT_FIRST_BLOCK, (pane, _clamp_upper_bound(after + 1))).get
    rows = connection.execute(
        f"{SELECT_BLOCK} WHERE pane = ? AND first_line BETWEEN ? AND ? ORDER BY first_line",
        (pane, start, _clamp_upper_bound(before)),
    )
    lines = (line for block in build_blocks(rows) for line in block.split_lines())
    in_range = (line for line in lines if after < line.number < _clamp_upper_bound(before))
    return list(islice(in_range, max(0, limit)))


def read_last_lines(connection: Connection, pane: PaneId, before: int | None, limit: int) -> list[Line]:
    """Return the last lines with ``number < before``."""
    rows = connection.execute(
        f"{SELECT_BLOCK} WHERE pane = ? AND first_line < ? ORDER BY first_line DESC",
        (pane, _clamp_upper_bound(before)),
    )
    lines = (line for block in build_blocks(rows) for line in reversed(block.split_lines()))
    in_range = (line for line in lines if line.number < _clamp_upper_bound(before))
    return list(islice(in_range, max(0, limit)))[::-1]


def _clamp_upper_bound(before: int | None) -> int:
    return _MAX_LINE_NUMBER if before is None else max(0, min(before, _MAX_LINE_NUMBER))

"""Commit the output of the pipeline together with the offset up to which it was computed, so nothing is stored twice.

In: epoch updates. Stored in one transaction: text blocks and their index, marks, commands, events and detections, the
epoch's offset and carry, the pane's next line number.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.output import Mark, TextBlock
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import encode_json, replace_surrogates
from termvisor.store.tables.commands import save_command_update, set_output_boundary
from termvisor.store.tables.detections import add_detection
from termvisor.store.tables.events import add_event
from termvisor.store.tables.indexed_table import BLOCKS


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

"""What was made of a pane's bytes, stored together with how far it was made, so that nothing is stored twice.

In: Progress. In one transaction: blocks, their index, marks, commands, events and detections of the stream, the
epoch's offset and carry, the pane's next line.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import InternalError
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import TextBlock
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.text_encoding import replace_surrogates
from termvisor.store.tables.commands import save_command_update, set_output_boundary
from termvisor.store.tables.detections import add_detection
from termvisor.store.tables.events import add_event

TIME_BUCKET_BITS = 8
"""Blocks whose ids share all but this many bits share one row of times."""
_UPSERT_TIME_BUCKET = (
    "INSERT INTO block_time VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
    " SET at = min(at, excluded.at), until = max(until, excluded.until)"
)


class StreamDetection(Struct, frozen=True):
    """A detection in the stream; ``event`` is what it is told as, where that is not made of it."""

    detection: Detection
    lines_before: int | None = None
    event: Event | None = None


class EpochUpdate(Struct, frozen=True, kw_only=True):
    """One step of one epoch: all that came of its bytes up to ``committed``. Marks come with their time.

    An edge and a detection come with the number of lines of this step that stand before them.
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
    """Events, in the order in which they happened."""


class CommitResult(Struct, frozen=True):
    """The last line number of each pane of a batch, and its events with their ids."""

    last_lines: dict[PaneId, int]
    events: tuple[Event, ...] = ()


def commit_batch(connection: Connection, batch: Sequence[EpochUpdate]) -> CommitResult:
    last: dict[PaneId, int] = {}
    events: list[Event] = []
    for progress in batch:
        _advance_epoch(connection, progress)
        first: int = connection.execute("SELECT next_line FROM pane WHERE id = ?", (progress.pane,)).get
        last[progress.pane] = _add_output(connection, progress, first)
        told = (_store_event(connection, one, first) for one in progress.events)
        events += [event for event in told if event is not None]
    return CommitResult(last, tuple(events))


def _advance_epoch(connection: Connection, update: EpochUpdate) -> None:
    connection.execute(
        "UPDATE epoch SET committed = ?1, carry = ?2 WHERE id = ?3 AND pane = ?4 AND committed <= ?1",
        (update.committed, update.carry, update.epoch, update.pane),
    )
    if not connection.changes():
        raise InternalError(
            f"epoch {update.epoch} of pane {update.pane} is missing or already beyond {update.committed}"
        )


def _store_event(connection: Connection, item: Event | StreamDetection, first: int) -> Event | None:
    if isinstance(item, Event):
        return add_event(connection, item)
    detection = item.detection
    if item.lines_before is not None:
        detection = replace(detection, evidence=detection.evidence | {"line": first + item.lines_before})
    return add_detection(connection, detection, item.event)


def _add_output(connection: Connection, update: EpochUpdate, first: int) -> int:
    following = first
    blocks = [block for block in update.blocks if block.lines]
    if blocks:
        following = _add_blocks(connection, update.pane, blocks, following)
    _add_marks(connection, update)
    _add_commands(connection, update, first)
    heard = max([block.until for block in blocks] + [at for at, _ in update.marks], default=None)
    connection.execute(
        "UPDATE pane SET next_line = ?, last_output_at = coalesce(max(last_output_at, ?2), ?2, last_output_at)"
        " WHERE id = ?3",
        (following, heard, update.pane),
    )
    return following - 1


def _add_blocks(connection: Connection, pane: PaneId, blocks: list[TextBlock], first_line: int) -> int:
    first_id: int = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM block").get
    rows, indexed = [], []
    for number, block in enumerate(blocks, first_id):
        text, count = _join_block_text(block), len(block.lines)
        place = (block.start, block.end, block.at, block.until, block.source)
        rows.append((number, pane, block.epoch, first_line, count, *place, text))
        indexed.append((number, text, pane))
        first_line += count
    connection.executemany("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.executemany("INSERT INTO block_fts (rowid, text, pane) VALUES (?, ?, ?)", indexed)
    times = ((number >> TIME_BUCKET_BITS, block.at, block.until) for number, block in enumerate(blocks, first_id))
    connection.executemany(_UPSERT_TIME_BUCKET, merge_time_buckets(times))
    return first_line


def merge_time_buckets(times: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Each shelf once, with the first and the last time of what stands in it."""
    shelves: dict[int, tuple[int, int]] = {}
    for shelf, at, until in times:
        first, last = shelves.get(shelf, (at, until))
        shelves[shelf] = min(first, at), max(last, until)
    return [(shelf, *span) for shelf, span in shelves.items()]


def _add_marks(connection: Connection, update: EpochUpdate) -> None:
    connection.executemany(
        'INSERT INTO mark (pane, epoch, "offset", at, kind, text, exit_code, params) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        [(update.pane, update.epoch, mark.offset, at, *_encode_mark(mark)) for at, mark in update.marks],
    )


def _add_commands(connection: Connection, update: EpochUpdate, first_line: int) -> None:
    for told in update.commands:
        texts = {"line": _encode_optional_text(told.line), "cwd": _encode_optional_text(told.cwd)}
        save_command_update(connection, update.pane, update.epoch, replace(told, **texts))
    for edge, before in update.edges:
        set_output_boundary(connection, update.epoch, edge, first_line + before)


def _encode_optional_text(text: str | None) -> str | None:
    return None if text is None else replace_surrogates(text)


def _encode_mark(mark: Mark) -> tuple[str, str, int | None, str]:
    return mark.kind, replace_surrogates(mark.text), mark.exit_code, msgspec.json.encode(mark.params).decode()


def _join_block_text(block: TextBlock) -> str:
    text = "\n".join(block.lines)
    if text.count("\n") != len(block.lines) - 1:
        raise InternalError(f"a line of epoch {block.epoch} at {block.start} holds a newline")
    return replace_surrogates(text)

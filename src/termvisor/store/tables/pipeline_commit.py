"""What was made of a pane's bytes, stored together with how far it was made, so that nothing is stored twice.

In: Progress. In one transaction: blocks, their index, marks, commands, events and detections of the stream, the
epoch's offset and carry, the pane's next line.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.errors import Broken
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import CommandTold, Edge
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import Block
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.text_encoding import storable
from termvisor.store.tables.commands import bound, tell
from termvisor.store.tables.detections import add_detection
from termvisor.store.tables.events import add_event

SHELF = 8
"""Blocks whose ids share all but this many bits share one row of times."""
_NOTE_TIMES = (
    "INSERT INTO block_time VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
    " SET at = min(at, excluded.at), until = max(until, excluded.until)"
)


class Found(Struct, frozen=True):
    """A detection in the stream; ``event`` is what it is told as, where that is not made of it."""

    detection: Detection
    before: int | None = None
    event: Event | None = None


class Progress(Struct, frozen=True, kw_only=True):
    """One step of one epoch: all that came of its bytes up to ``committed``. Marks come with their time.

    An edge and a detection come with the number of lines of this step that stand before them.
    """

    pane: PaneId
    epoch: EpochId
    committed: int
    carry: bytes = b""
    blocks: tuple[Block, ...] = ()
    marks: tuple[tuple[int, Mark], ...] = ()
    commands: tuple[CommandTold, ...] = ()
    edges: tuple[tuple[Edge, int], ...] = ()
    told: tuple[Event | Found, ...] = ()
    """Events, in the order in which they happened."""


class Stored(Struct, frozen=True):
    """The last line number of each pane of a batch, and its events with their ids."""

    last_lines: dict[PaneId, int]
    events: tuple[Event, ...] = ()


def commit(connection: Connection, batch: Sequence[Progress]) -> Stored:
    last: dict[PaneId, int] = {}
    events: list[Event] = []
    for progress in batch:
        _advance(connection, progress)
        first: int = connection.execute("SELECT next_line FROM pane WHERE id = ?", (progress.pane,)).get
        last[progress.pane] = _add(connection, progress, first)
        told = (_tell(connection, one, first) for one in progress.told)
        events += [event for event in told if event is not None]
    return Stored(last, tuple(events))


def _advance(connection: Connection, progress: Progress) -> None:
    connection.execute(
        "UPDATE epoch SET committed = ?1, carry = ?2 WHERE id = ?3 AND pane = ?4 AND committed <= ?1",
        (progress.committed, progress.carry, progress.epoch, progress.pane),
    )
    if not connection.changes():
        raise Broken(
            f"epoch {progress.epoch} of pane {progress.pane} is missing or already beyond {progress.committed}"
        )


def _tell(connection: Connection, one: Event | Found, first: int) -> Event | None:
    if isinstance(one, Event):
        return add_event(connection, one)
    detection = one.detection
    if one.before is not None:
        detection = replace(detection, evidence=detection.evidence | {"line": first + one.before})
    return add_detection(connection, detection, one.event)


def _add(connection: Connection, progress: Progress, first: int) -> int:
    following = first
    blocks = [block for block in progress.blocks if block.lines]
    if blocks:
        following = _add_blocks(connection, progress.pane, blocks, following)
    _add_marks(connection, progress)
    _add_commands(connection, progress, first)
    heard = max([block.until for block in blocks] + [at for at, _ in progress.marks], default=None)
    connection.execute(
        "UPDATE pane SET next_line = ?, last_output_at = coalesce(max(last_output_at, ?2), ?2, last_output_at)"
        " WHERE id = ?3",
        (following, heard, progress.pane),
    )
    return following - 1


def _add_blocks(connection: Connection, pane: PaneId, blocks: list[Block], first_line: int) -> int:
    first_id: int = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM block").get
    rows, indexed = [], []
    for number, block in enumerate(blocks, first_id):
        text, count = _text(block), len(block.lines)
        place = (block.start, block.end, block.at, block.until, block.source)
        rows.append((number, pane, block.epoch, first_line, count, *place, text))
        indexed.append((number, text, pane))
        first_line += count
    connection.executemany("INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    connection.executemany("INSERT INTO block_fts (rowid, text, pane) VALUES (?, ?, ?)", indexed)
    times = ((number >> SHELF, block.at, block.until) for number, block in enumerate(blocks, first_id))
    connection.executemany(_NOTE_TIMES, shelved(times))
    return first_line


def shelved(times: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Each shelf once, with the first and the last time of what stands in it."""
    shelves: dict[int, tuple[int, int]] = {}
    for shelf, at, until in times:
        first, last = shelves.get(shelf, (at, until))
        shelves[shelf] = min(first, at), max(last, until)
    return [(shelf, *span) for shelf, span in shelves.items()]


def _add_marks(connection: Connection, progress: Progress) -> None:
    connection.executemany(
        'INSERT INTO mark (pane, epoch, "offset", at, kind, text, exit_code, params) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        [(progress.pane, progress.epoch, mark.offset, at, *_said(mark)) for at, mark in progress.marks],
    )


def _add_commands(connection: Connection, progress: Progress, first_line: int) -> None:
    for told in progress.commands:
        texts = {"line": _stored_text(told.line), "cwd": _stored_text(told.cwd)}
        tell(connection, progress.pane, progress.epoch, replace(told, **texts))
    for edge, before in progress.edges:
        bound(connection, progress.epoch, edge, first_line + before)


def _stored_text(text: str | None) -> str | None:
    return None if text is None else storable(text)


def _said(mark: Mark) -> tuple[str, str, int | None, str]:
    return mark.kind, storable(mark.text), mark.exit_code, msgspec.json.encode(mark.params).decode()


def _text(block: Block) -> str:
    text = "\n".join(block.lines)
    if text.count("\n") != len(block.lines) - 1:
        raise Broken(f"a line of epoch {block.epoch} at {block.start} holds a newline")
    return storable(text)

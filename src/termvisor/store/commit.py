"""What was made of a pane's bytes, stored together with how far it was made, so that nothing is stored twice.

In: Progress. In one transaction: blocks, their index, marks, the epoch's offset and carry, the pane's next line.
"""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from termvisor.errors import Broken
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.mark import Mark
from termvisor.model.output import Block
from termvisor.store.db import Connection

SHELF = 8
"""Blocks whose ids share all but this many bits share one row of times."""


class Progress(Struct, frozen=True, kw_only=True):
    """One step of one epoch: all that came of its bytes up to ``committed``. Marks come with their time."""

    pane: PaneId
    epoch: EpochId
    committed: int
    carry: bytes = b""
    blocks: tuple[Block, ...] = ()
    marks: tuple[tuple[int, Mark], ...] = ()


def commit(connection: Connection, batch: Sequence[Progress]) -> dict[PaneId, int]:
    """Store the batch; the last line number of each pane in it."""
    last: dict[PaneId, int] = {}
    for progress in batch:
        _advance(connection, progress)
        last[progress.pane] = _add(connection, progress)
    return last


def _advance(connection: Connection, progress: Progress) -> None:
    connection.execute(
        "UPDATE epoch SET committed = ?1, carry = ?2 WHERE id = ?3 AND pane = ?4 AND committed <= ?1",
        (progress.committed, progress.carry, progress.epoch, progress.pane),
    )
    if not connection.changes():
        raise Broken(
            f"epoch {progress.epoch} of pane {progress.pane} is missing or already beyond {progress.committed}"
        )


def _add(connection: Connection, progress: Progress) -> int:
    following: int = connection.execute("SELECT next_line FROM pane WHERE id = ?", (progress.pane,)).get
    blocks = [block for block in progress.blocks if block.lines]
    if blocks:
        following = _add_blocks(connection, progress.pane, blocks, following)
    _add_marks(connection, progress)
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
    _note_times(connection, ((number >> SHELF, block.at, block.until) for number, block in enumerate(blocks, first_id)))
    return first_line


def _note_times(connection: Connection, times: Iterable[tuple[int, int, int]]) -> None:
    shelves: dict[int, tuple[int, int]] = {}
    for shelf, at, until in times:
        first, last = shelves.get(shelf, (at, until))
        shelves[shelf] = min(first, at), max(last, until)
    connection.executemany(
        "INSERT INTO block_time VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
        " SET at = min(at, excluded.at), until = max(until, excluded.until)",
        [(shelf, *span) for shelf, span in shelves.items()],
    )


def _add_marks(connection: Connection, progress: Progress) -> None:
    connection.executemany(
        'INSERT INTO mark (pane, epoch, "offset", at, kind, text, exit_code, params) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        [(progress.pane, progress.epoch, mark.offset, at, *_said(mark)) for at, mark in progress.marks],
    )


def _said(mark: Mark) -> tuple[str, str, int | None, str]:
    return mark.kind, _storable(mark.text), mark.exit_code, msgspec.json.encode(mark.params).decode()


def _text(block: Block) -> str:
    text = "\n".join(block.lines)
    if text.count("\n") != len(block.lines) - 1:
        raise Broken(f"a line of epoch {block.epoch} at {block.start} holds a newline")
    return _storable(text)


def _storable(text: str) -> str:
    """Without lone surrogates: SQLite keeps UTF-8, and one bad character must not stop a pane for ever."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()

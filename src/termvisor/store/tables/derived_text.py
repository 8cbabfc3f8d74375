"""Replace the stored text of epochs that was derived wrongly, and the line numbers that refer to it.

The new lines take the row ids of the old blocks, because searches and retention expect ids in order of time. All lines
of the pane get new numbers above every number that was ever used, so that an old cursor is reported as too old instead
of pointing to another line. The numbers in commands and detections follow.

Nothing may be reading the pane's stream meanwhile: a reader knows the next line number.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import CommandBoundary
from termvisor.model.terminal.output import TextBlock
from termvisor.store.sqlite.database import Connection
from termvisor.store.sqlite.table import StoreTable, encode_json, run_write
from termvisor.store.tables.indexed_table import BLOCKS
from termvisor.store.tables.output import join_block_text

_BlockRow = tuple[int, int, int, int, int, str]
_SELECT_BLOCKS = "SELECT id, epoch, first_line, line_count, start, source FROM block WHERE pane = ? ORDER BY first_line"
_JSON = msgspec.json.Decoder(dict[str, object])


class DerivedText(Struct, frozen=True):
    """The text of an epoch, and the bounds of its commands' output with the number of lines before them.

    ``carry`` is the state with which decoding continues at ``committed``; empty if the epoch is finished.
    """

    pane: PaneId
    epoch: EpochId
    blocks: tuple[TextBlock, ...] = ()
    edges: tuple[tuple[CommandBoundary, int], ...] = ()
    committed: int = 0
    carry: bytes = b""
    is_complete: bool = True
    """False if the raw log does not have all bytes of the epoch; its text must stay as it is."""

    def count_lines(self) -> int:
        return sum(len(block.lines) for block in self.blocks)


class DerivedTextTable(StoreTable):
    """The text of epochs that has to be derived again; `OutputTable.list_doubtful_epochs` lists them."""

    @run_write
    def replace(self, connection: Connection, texts: Sequence[DerivedText]) -> None:
        """Replace the text of the epochs that are complete; none of these epochs is listed any longer."""
        connection.executemany("DELETE FROM text_to_derive WHERE epoch = ?", [(text.epoch,) for text in texts])
        complete = [text for text in texts if text.is_complete]
        for pane in {text.pane for text in complete}:
            replacer = _TextReplacer(connection, pane, {text.epoch: text for text in complete if text.pane == pane})
            replacer.replace_blocks()
            replacer.shift_commands()
            replacer.shift_detections()
        # A wrong decoder left a wrong state too, for example on the alternate screen.
        connection.executemany(
            "UPDATE epoch SET committed = ?, carry = ? WHERE id = ?",
            [(text.committed, text.carry, text.epoch) for text in complete if text.carry],
        )


class _NumberedRun(Struct, frozen=True):
    """Lines that kept their text: ``count`` lines with the numbers from ``old``, now from ``new``."""

    old: int
    count: int
    new: int


class _TextReplacer:
    def __init__(self, connection: Connection, pane: PaneId, derived: Mapping[EpochId, DerivedText]):
        self._connection, self._pane, self._derived = connection, pane, derived
        self._next: int = connection.execute("SELECT next_line FROM pane WHERE id = ?", (pane,)).get
        self._runs: list[_NumberedRun] = []
        self._first_numbers: dict[EpochId, int] = {}
        """The number of the first line of each replaced epoch."""
        self._kept: dict[EpochId, DerivedText] = {}

    def replace_blocks(self) -> None:
        rows = cast("list[_BlockRow]", self._connection.execute(_SELECT_BLOCKS, (self._pane,)).fetchall())
        replaced: dict[EpochId, list[_BlockRow]] = {}
        for row in rows:
            if row[5] == "stream" and row[1] in self._derived:
                replaced.setdefault(EpochId(row[1]), []).append(row)
        for row in rows:
            epoch = EpochId(row[1])
            if epoch not in replaced or row[5] != "stream":
                self._shift_block(row)
            elif epoch not in self._first_numbers:
                self._insert(epoch, replaced[epoch])
        self._connection.execute("UPDATE pane SET next_line = ? WHERE id = ?", (self._next, self._pane))

    def _shift_block(self, row: _BlockRow) -> None:
        row_id, _, first_line, count, *_ = row
        self._connection.execute("UPDATE block SET first_line = ? WHERE id = ?", (self._next, row_id))
        self._runs.append(_NumberedRun(first_line, count, self._next))
        self._next += count

    def _insert(self, epoch: EpochId, rows: list[_BlockRow]) -> None:
        ids = sorted(row[0] for row in rows)
        for row_id in ids:
            BLOCKS.delete_text(self._connection, row_id)
            self._connection.execute("DELETE FROM block WHERE id = ?", (row_id,))
        # Retention deletes from the front: what it deleted must not come back.
        kept = tuple(block for block in self._derived[epoch].blocks if block.end > rows[0][4])
        self._first_numbers[epoch], self._kept[epoch] = self._next, replace(self._derived[epoch], blocks=kept)
        indexed = []
        for row_id, block in zip(ids, _merge_blocks(kept, len(ids)), strict=False):
            text = join_block_text(block)
            position = (block.start, block.end, block.at, block.until, block.source)
            self._connection.execute(
                "INSERT INTO block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (row_id, self._pane, epoch, self._next, len(block.lines), *position, text),
            )
            indexed.append((row_id, text, self._pane))
            BLOCKS.extend_times(self._connection, [(row_id, block.at, block.until)])
            self._next += len(block.lines)
        BLOCKS.add_texts(self._connection, indexed)

    def shift_commands(self) -> None:
        query = 'SELECT id, epoch, start, "end", first_line, last_line FROM command WHERE pane = ?'
        rows = cast("list[tuple[int, ...]]", self._connection.execute(query, (self._pane,)).fetchall())
        for number, epoch, start, end, first_line, last_line in rows:
            if epoch in self._first_numbers:
                first = self._find_boundary(EpochId(epoch), start, start, is_end=False)
                after = self._find_boundary(EpochId(epoch), start, end, is_end=True)
            else:
                first, after = self._find_number(first_line), self._find_number((last_line or 0) + 1)
            last = None if last_line is None else max(after, first) - 1
            self._connection.execute(
                "UPDATE command SET first_line = ?, last_line = ? WHERE id = ?", (first, last, number)
            )

    def shift_detections(self) -> None:
        query = "SELECT event, evidence, context FROM detection WHERE pane = ? AND evidence ->> 'line' IS NOT NULL"
        rows = cast("list[tuple[int, str, str]]", self._connection.execute(query, (self._pane,)).fetchall())
        for event, encoded, context in rows:
            evidence = _JSON.decode(encoded)
            epoch, line = EpochId(cast("int", evidence.get("epoch", 0))), cast("int", evidence["line"])
            found = self._find_text(epoch, context.rpartition("\n")[2])
            number = self._find_number(line) if epoch not in self._first_numbers else found
            if number is not None:
                changed = encode_json({**evidence, "line": number})
                self._connection.execute("UPDATE detection SET evidence = ? WHERE event = ?", (changed, event))

    def _find_boundary(self, epoch: EpochId, command: int, offset: int | None, *, is_end: bool) -> int:
        """Return the number of the first line after a command's start or end."""
        first, text = self._first_numbers[epoch], self._kept[epoch]
        dropped = self._derived[epoch].count_lines() - text.count_lines()
        for boundary, lines_before in text.edges:
            if boundary.command == command and boundary.is_end == is_end:
                return first + max(0, lines_before - dropped)
        # The command's mark is not among those that were read again; the nearest block has to do.
        before = [block for block in text.blocks if offset is None or block.start < offset]
        return first + sum(len(block.lines) for block in before)

    def _find_number(self, old: int) -> int:
        """Return the new number of a line that kept its text, or of the next one that did."""
        index = bisect_right(self._runs, old, key=lambda run: run.old) - 1
        if index >= 0 and old < self._runs[index].old + self._runs[index].count:
            return self._runs[index].new + old - self._runs[index].old
        return self._runs[index + 1].new if index + 1 < len(self._runs) else self._next

    def _find_text(self, epoch: EpochId, text: str) -> int | None:
        """Return the number of the first line of a replaced epoch with this text."""
        number = self._first_numbers.get(epoch, 0)
        for block in self._kept[epoch].blocks if epoch in self._kept else ():
            if text in block.lines:
                return number + block.lines.index(text)
            number += len(block.lines)
        return None


def _merge_blocks(blocks: Sequence[TextBlock], count: int) -> Iterator[TextBlock]:
    """Yield at most ``count`` blocks with the lines of all."""
    if not blocks:
        return
    size = -(-len(blocks) // count)
    for index in range(0, len(blocks), size):
        group = blocks[index : index + size]
        lines = tuple(line for block in group for line in block.lines)
        yield replace(group[0], end=group[-1].end, until=group[-1].until, lines=lines)

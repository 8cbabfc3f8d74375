"""Lines read back out of blocks: only the blocks that hold them are touched."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from termvisor.model.agent.transcript_message import MessageRole
from termvisor.model.ids import EpochId, PaneId, ScreenId
from termvisor.model.terminal.output import Line, TextSource
from termvisor.store.sqlite.database import Connection

SELECT_BLOCK = "SELECT block.id, block.pane, epoch, first_line, line_count, at, until, source, block.text FROM block"
_SELECT_FIRST_BLOCK = "SELECT coalesce(max(first_line), 0) FROM block WHERE pane = ? AND first_line <= ?"
_MAX_LINE_NUMBER = (1 << 63) - 1


class StoredBlock(Struct, frozen=True):
    """A block as it lies in the database; its lines are numbered from ``first_line``.

    A sighting is one of a single line without a number: it was on screens from ``at`` until ``until``.
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
    """Where a sighting stood when it was first seen."""
    role: MessageRole | None = None
    """Of what was said: who said it."""
    agent: str = ""
    """Of what was said: the agent in the conversation."""

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
        """The first line has the block's first time, the last its last, those between in proportion."""
        return self.at + (self.until - self.at) * index // max(1, self.line_count - 1)

    def split_lines(self) -> list[Line]:
        return [self.build_line(index, text) for index, text in enumerate(self.text.split("\n"))]


def build_blocks(rows: Iterator[tuple[Any, ...]]) -> Iterator[StoredBlock]:
    return (StoredBlock(*row) for row in rows)


def read_first_lines(connection: Connection, pane: PaneId, after: int, before: int | None, limit: int) -> list[Line]:
    """The first lines with ``after < number < before``."""
    start = connection.execute(_SELECT_FIRST_BLOCK, (pane, _clamp_upper_bound(after + 1))).get
    rows = connection.execute(
        f"{SELECT_BLOCK} WHERE pane = ? AND first_line BETWEEN ? AND ? ORDER BY first_line",
        (pane, start, _clamp_upper_bound(before)),
    )
    numbered = (line for block in build_blocks(rows) for line in block.split_lines())
    fitting = (line for line in numbered if after < line.number < _clamp_upper_bound(before))
    return list(islice(fitting, max(0, limit)))


def read_last_lines(connection: Connection, pane: PaneId, before: int | None, limit: int) -> list[Line]:
    """The last lines with ``number < before``."""
    rows = connection.execute(
        f"{SELECT_BLOCK} WHERE pane = ? AND first_line < ? ORDER BY first_line DESC",
        (pane, _clamp_upper_bound(before)),
    )
    numbered = (line for block in build_blocks(rows) for line in reversed(block.split_lines()))
    fitting = (line for line in numbered if line.number < _clamp_upper_bound(before))
    return list(islice(fitting, max(0, limit)))[::-1]


def _clamp_upper_bound(before: int | None) -> int:
    return _MAX_LINE_NUMBER if before is None else max(0, min(before, _MAX_LINE_NUMBER))

"""Read numbered lines from stored text blocks; only the blocks that contain them are read."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from termvisor.model.agent.session import MessageRole
from termvisor.model.ids import EpochId, PaneId, ScreenId
from termvisor.model.terminal.output import Line, TextSource
from termvisor.store.sqlite.database import Connection

SELECT_BLOCK = "SELECT block.id, block.pane, epoch, first_line, line_count, at, until, source, block.text FROM block"
_SELECT_FIRST_BLOCK = "SELECT coalesce(max(first_line), 0) FROM block WHERE pane = ? AND first_line <= ?"
_MAX_LINE_NUMBER = (1 << 63) - 1


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

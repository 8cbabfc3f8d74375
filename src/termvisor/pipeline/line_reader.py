"""Read the lines of panes as one sequence: stored lines, then those that are still on the screen.

The latter come from memory, redacted, with the numbers under which they will be stored. A program may rewrite them;
a position remembers up to where a client has read, so that it gets rewritten lines again.
"""

from collections.abc import Callable, Mapping, Sequence

from termvisor.model.ids import PaneId
from termvisor.model.terminal.output import Line, LinePosition
from termvisor.pipeline.epoch_reader import EpochReader
from termvisor.store.tables.output import OutputTable


class LineReader:
    def __init__(self, store: OutputTable, readers: Mapping[PaneId, EpochReader], next_lines: Mapping[PaneId, int]):
        self._store, self._readers, self._next_lines = store, readers, next_lines

    async def read(
        self, pane: PaneId, *, after: int | None = None, before: int | None = None, limit: int = 50
    ) -> list[Line]:
        """Return lines with ``after < number < before``: the first ones if ``after`` is given, else the last ones."""
        # Memory first: a line that is stored during the read is then left out there and not returned twice.
        unstored = self.list_unstored(pane)
        bounds = [line.number for line in unstored[:1]] + ([] if before is None else [before])
        stored_before = min(bounds, default=None)
        wanted = [
            line
            for line in unstored
            if (after is None or line.number > after) and (before is None or line.number < before)
        ]
        if after is not None:
            stored = await self._store.read_lines(pane, after=after, before=stored_before, limit=limit)
            return [*stored, *wanted][:limit]
        wanted = wanted[-limit:] if limit > 0 else []
        missing = limit - len(wanted)
        stored = await self._store.read_lines(pane, before=stored_before, limit=missing) if missing > 0 else []
        return [*stored, *wanted]

    async def read_since(self, pane: PaneId, position: LinePosition, limit: int) -> tuple[list[Line], LinePosition]:
        """Return the lines that were rewritten or printed since a position, and the position after them."""
        reader = self._readers.get(pane)
        rewritten_at = reader.text.rewritten_at if reader else position.rewritten_at
        rewritten = [number for number in self._find_rewritten(pane, position) if number <= position.number]
        span = range(rewritten[0], rewritten[-1] + 1) if rewritten else range(0)
        shown = await self.read(pane, after=span.start - 1, before=span.stop, limit=len(span)) if span else []
        again = [line for line in shown if line.number in set(rewritten)][:limit]
        new = await self.read(pane, after=position.number, limit=limit - len(again)) if len(again) < limit else []
        number = new[-1].number if new else min(position.number, await self.find_last_number(pane))
        return [*again, *new], LinePosition(number, rewritten_at)

    async def read_printed(self, pane: PaneId, limit: int) -> list[Line]:
        """Return the last lines above the first one that the pane's program has rewritten on the screen."""
        reader = self._readers.get(pane)
        before = None if reader is None else self._next_lines[pane] + reader.text.count_printed_lines()
        return await self.read(pane, before=before, limit=limit)

    async def find_last_number(self, pane: PaneId) -> int:
        """Return the number of the last complete line, even if it is no longer stored; 0 before the first."""
        count = self.count_lines(pane)
        return await self._store.find_last_line_number(pane) if count is None else count

    def count_lines(self, pane: PaneId) -> int | None:
        """Return the number of lines that a pane has printed; None if it is not captured now."""
        reader = self._readers.get(pane)
        return None if reader is None else self._next_lines[pane] - 1 + reader.text.count_unstored_lines()

    def find_position(self, pane: PaneId, number: int) -> LinePosition:
        """Return the position after a line."""
        reader = self._readers.get(pane)
        return LinePosition(number, reader.text.rewritten_at if reader else 0)

    def list_unstored(self, pane: PaneId) -> list[Line]:
        """Return the complete lines of a pane that are not stored yet."""
        reader = self._readers.get(pane)
        return [] if reader is None else reader.text.list_unstored_lines(self._next_lines[pane])

    def find_unstored(self, can_match: Callable[[str], bool]) -> list[list[Line]]:
        """Return the unstored lines of each pane whose text, before it is redacted, may match."""
        return [
            reader.text.list_unstored_lines(self._next_lines[pane])
            for pane, reader in self._readers.items()
            if can_match(reader.text.join_unredacted())
        ]

    def _find_rewritten(self, pane: PaneId, position: LinePosition) -> Sequence[int]:
        reader = self._readers.get(pane)
        if reader is None:
            return ()
        first = self._next_lines[pane]
        return [first + place for place in reader.text.find_rewritten_lines(position.rewritten_at)]

"""Opens and closes epochs in the store, with their baselines, gaps and events.

Invariant: an epoch's end and the gap after it are stored in one transaction; a pane has at most one open gap.
"""

from typing import Protocol

from msgspec import Struct

from termvisor.clock import Clock, iso
from termvisor.ingest.chronicle import Chronicle
from termvisor.ingest.ear import gap_of
from termvisor.ingest.overlap import recovered
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.output import Block, Epoch, EpochEnd, EpochSource, Gap
from termvisor.mux.base import Capture
from termvisor.recorder.format import SegmentReader
from termvisor.redact import Redactor
from termvisor.store import Progress, Store

_TAIL = 200
_BLOCK_ROWS = 32


class Text(Protocol):
    """The stage that makes text of an epoch's bytes."""

    def open(self, epoch: Epoch) -> object: ...

    async def finish(self, epoch: EpochId, size: int) -> bool: ...

    def grew(self, epoch: EpochId, size: int = 0) -> None: ...

    def folder(self, epoch: Epoch) -> str: ...

    def alternate_carry(self) -> bytes: ...


class Epochs(Struct):
    store: Store
    text: Text
    chronicle: Chronicle
    clock: Clock

    async def reserve(self, pane: PaneId, source: EpochSource) -> Epoch:
        """A number and a folder for what will be heard."""
        now = self.clock.now()
        return Epoch(id=await self.store.output.open_epoch(pane, source, now), pane=pane, source=source, opened_at=now)

    async def begin(self, epoch: Epoch, seen: Capture) -> Epoch:
        """The epoch is being heard, and this is what the pane showed at its very start."""
        carry = self.text.alternate_carry() if seen.alternate else b""
        rows = [] if seen.alternate else await self._new_rows(epoch.pane, seen)
        await self.store.output.commit([_baseline(epoch, rows, carry)])
        await self.store.output.end_gaps(epoch.pane, before=epoch.id, at=epoch.opened_at)
        begun = Epoch(id=epoch.id, pane=epoch.pane, source=epoch.source, opened_at=epoch.opened_at, carry=carry)
        self.text.open(begun)
        await self.chronicle.tell("epoch_opened", epoch.pane, epoch=epoch.id, source=epoch.source, baseline=len(rows))
        return begun

    async def end(self, epoch: Epoch, ended_by: EpochEnd, size: int, detail: str = "") -> None:
        saw_end = await self.text.finish(epoch.id, size)
        now = self.clock.now()
        cause = gap_of(ended_by, saw_end=saw_end)
        gap = None
        if cause is not None:
            is_over = ended_by in ("pane_exited", "server_gone")
            gap = Gap(
                pane=epoch.pane,
                cause=cause,
                start_at=now,
                end_at=now if is_over else None,
                after=epoch.id,
                detail=detail,
            )
        await self.store.output.close_epoch(epoch.id, ended_by, now, size, gap=gap)
        await self.chronicle.tell("epoch_closed", epoch.pane, epoch=epoch.id, ended_by=ended_by, bytes=size)
        if cause is not None:
            await self.chronicle.tell("gap_recorded", epoch.pane, cause=cause, since=iso(now), detail=detail)

    def size(self, epoch: Epoch) -> int:
        """How many bytes of it are on disk."""
        reader = SegmentReader(self.text.folder(epoch))
        try:
            return reader.size()
        finally:
            reader.close()

    async def _new_rows(self, pane: PaneId, seen: Capture) -> list[str]:
        """All rows for a pane we never heard; after a gap those that prove to follow what we have."""
        rows = Redactor().lines([row.rstrip() for row in seen.rows])
        while rows and not rows[-1]:
            rows.pop()
        tail = await self.store.output.lines(pane, limit=_TAIL)
        if not tail:
            return rows
        return recovered([line.text for line in tail], rows) or []


def _baseline(epoch: Epoch, rows: list[str], carry: bytes) -> Progress:
    at = epoch.opened_at
    parts = [tuple(rows[first : first + _BLOCK_ROWS]) for first in range(0, len(rows), _BLOCK_ROWS)]
    found = tuple(Block(epoch=epoch.id, start=0, end=0, at=at, until=at, lines=part, source="screen") for part in parts)
    return Progress(pane=epoch.pane, epoch=epoch.id, committed=0, carry=carry, blocks=found, marks=())

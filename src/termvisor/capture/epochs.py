"""Opens and closes epochs in the store, with their baselines, gaps and events.

Invariant: an epoch's end and the gap after it are stored in one transaction; a pane has at most one open gap.
"""

from contextlib import closing
from typing import Protocol
from unicodedata import east_asian_width

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import Capture
from termvisor.capture.event_log import Chronicle
from termvisor.capture.overlap import recovered
from termvisor.capture.pane_capture_state import gap_of
from termvisor.clock import Clock, iso
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import NOTHING_BEGUN, Begun, Block, Epoch, EpochEnd, EpochSource, Gap
from termvisor.model.terminal.screen import Screen
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import Redactor
from termvisor.store import Progress, Store

_TAIL = 200
_BLOCK_ROWS = 32


class Text(Protocol):
    """The stage that makes text of an epoch's bytes."""

    def open(self, epoch: Epoch) -> object: ...

    async def finish(self, epoch: EpochId, size: int) -> bool: ...

    def grew(self, epoch: EpochId, size: int = 0) -> None: ...

    def folder(self, epoch: Epoch) -> str: ...

    def first_carry(
        self, *, is_alternate: bool, at: int = 0, width: int = 0, begun: Begun = NOTHING_BEGUN
    ) -> bytes: ...

    def resized(self, pane: PaneId, width: int) -> None: ...


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
        rows, begun = ([], Begun()) if seen.alternate else await self._new_rows(epoch.pane, seen)
        carry = self.text.first_carry(is_alternate=seen.alternate, at=epoch.opened_at, width=seen.width, begun=begun)
        await self.store.output.commit([_baseline(epoch, rows, carry)])
        await self.store.first_screens.keep(epoch.id, _first_screen(epoch, seen))
        await self.heard_again(epoch)
        heard = Epoch(id=epoch.id, pane=epoch.pane, source=epoch.source, opened_at=epoch.opened_at, carry=carry)
        self.text.open(heard)
        await self.chronicle.tell("epoch_opened", epoch.pane, epoch=epoch.id, source=epoch.source, baseline=len(rows))
        return heard

    async def resume(self, epoch: Epoch, *, is_held: bool) -> bool:
        """Go on with an epoch that an earlier daemon left open; false when it was reserved and never heard."""
        if not (is_held or epoch.carry or self.size(epoch)):
            return False
        await self.heard_again(epoch)
        self.text.open(epoch)
        return True

    async def heard_again(self, epoch: Epoch) -> None:
        """What the pane prints is in this epoch, so its gap is over."""
        await self.store.output.end_gaps(epoch.pane, before=epoch.id, at=epoch.opened_at)

    async def end(
        self, epoch: Epoch, ended_by: EpochEnd, size: int, detail: str = "", since: int | None = None
    ) -> None:
        """Close an epoch with all its text. ``since``: from when on nobody listened, where that was not just now."""
        heard_until = self.clock.now()  # before we wait for the text: a full disk may make that long
        saw_end = await self.text.finish(epoch.id, size)
        now = self.clock.now()
        at = min(heard_until, since or self._closed_at(epoch) or heard_until)
        cause = gap_of(ended_by, saw_end=saw_end)
        gap = None
        if cause is not None:
            end_at = now if ended_by in ("pane_exited", "server_gone") else None
            gap = Gap(pane=epoch.pane, cause=cause, start_at=at, end_at=end_at, after=epoch.id, detail=detail)
        await self.store.output.close_epoch(epoch.id, ended_by, at, size, gap=gap)
        await self.chronicle.tell("epoch_closed", epoch.pane, epoch=epoch.id, ended_by=ended_by, bytes=size)
        if gap is not None:
            await self._tell_gap(gap)

    async def unheard(self, pane: PaneId, detail: str) -> None:
        """There is no way to hear this pane for now: one open gap, until it is heard."""
        if any(gap.end_at is None for gap in await self.store.output.gaps(pane=pane)):
            return
        gap = Gap(pane=pane, cause="link_down", start_at=self.clock.now(), detail=detail)
        await self._tell_gap(await self.store.output.record_gap(gap))

    async def over(self, pane: PaneId) -> None:
        """A pane that is gone prints no more: nothing goes on being missed."""
        await self.store.output.end_gaps(pane, before=None, at=self.clock.now())

    def size(self, epoch: Epoch) -> int:
        """How many bytes of it are on disk."""
        with closing(SegmentReader(self.text.folder(epoch))) as reader:
            return reader.size()

    def last_at(self, epoch: Epoch) -> int:
        """Up to when its log vouches for the pane: its end, else its last byte, else its beginning."""
        with closing(SegmentReader(self.text.folder(epoch))) as reader:
            return self._closed_at(epoch) or reader.time_of(reader.size()) or epoch.opened_at

    def _closed_at(self, epoch: Epoch) -> int | None:
        with closing(SegmentReader(self.text.folder(epoch))) as reader:
            ended = reader.ended()
        return ended[1] if ended else None

    async def _tell_gap(self, gap: Gap) -> None:
        data = {"cause": gap.cause, "since": iso(gap.start_at), "detail": gap.detail}
        await self.chronicle.tell("gap_recorded", gap.pane, **data)

    async def _new_rows(self, pane: PaneId, seen: Capture) -> tuple[list[str], Begun]:
        """All rows for a pane we never heard; after a gap those that prove to follow what we have.

        The row of the cursor is not finished: it is the beginning of the first line that will be heard.
        """
        rows = Redactor().lines([row.rstrip() for row in seen.rows])
        while rows and not rows[-1]:
            rows.pop()
        column = cursor_column(seen, len(rows))
        begun = Begun() if column is None else _begun(rows[-1], seen.rows[len(rows) - 1].rstrip(), column)
        tail = await self.store.output.lines(pane, limit=_TAIL)
        if tail:
            new = recovered([line.text for line in tail], rows)
            begun = replace(begun, is_stored=new == [])
            rows = new or []
        return rows[:-1] if begun.text else rows, begun


def cursor_column(seen: Capture, count: int) -> int | None:
    """In which column of the last of so many rows the cursor stands; None when it stands elsewhere.

    A row may be several rows of the screen, joined; those below it are blank, each a row of its own.
    """
    last = seen.height - 1 - (len(seen.rows) - count)
    if count == 0 or seen.cursor_y != last:
        return None
    return (max(_columns(seen.rows[count - 1]), 1) - 1) // max(seen.width, 1) * seen.width + seen.cursor_x


def _begun(text: str, shown: str, column: int) -> Begun:
    """Where a secret was taken out, the columns of what was shown no longer fit: the line goes on at its end."""
    return Begun(text, column if text == shown else _columns(text) + 1)


def _columns(text: str) -> int:
    return len(text) if text.isascii() else sum(1 + (east_asian_width(character) in "WF") for character in text)


def _first_screen(epoch: Epoch, seen: Capture) -> Screen:
    """The visible rows; some above them are looked at, too, because a secret may begin there."""
    rows = Redactor().lines([row.rstrip() for row in seen.rows[-4 * seen.height :]])
    return seen.screen(epoch.pane, rows[-seen.height :], epoch.opened_at)


def _baseline(epoch: Epoch, rows: list[str], carry: bytes) -> Progress:
    at = epoch.opened_at
    parts = [tuple(rows[first : first + _BLOCK_ROWS]) for first in range(0, len(rows), _BLOCK_ROWS)]
    found = tuple(Block(epoch=epoch.id, start=0, end=0, at=at, until=at, lines=part, source="screen") for part in parts)
    return Progress(pane=epoch.pane, epoch=epoch.id, committed=0, carry=carry, blocks=found, marks=())

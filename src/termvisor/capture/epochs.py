"""Opens and closes epochs in the store, with their baselines, gaps and events.

Invariant: an epoch's end and the gap after it are stored in one transaction; a pane has at most one open gap.
"""

from contextlib import closing
from typing import Protocol
from unicodedata import east_asian_width

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.event_log import EventLog
from termvisor.capture.overlap import find_rows_after_tail
from termvisor.capture.pane_capture_state import find_gap_cause
from termvisor.clock import Clock, format_timestamp
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import NO_INITIAL_LINE, Epoch, EpochEnd, EpochSource, Gap, InitialLine, TextBlock
from termvisor.model.terminal.screen import Screen
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import Redactor
from termvisor.store import EpochUpdate, Store

_TAIL_LINES = 200
_BLOCK_ROWS = 32


class EpochTextSink(Protocol):
    """The stage that makes text of an epoch's bytes."""

    def open_epoch(self, epoch: Epoch) -> object: ...

    async def finish_epoch(self, epoch: EpochId, size: int) -> bool: ...

    def note_growth(self, epoch: EpochId, size: int = 0) -> None: ...

    def build_folder_path(self, epoch: Epoch) -> str: ...

    def encode_first_carry(
        self, *, is_alternate: bool, at: int = 0, width: int = 0, begun: InitialLine = NO_INITIAL_LINE
    ) -> bytes: ...

    def resize_pane(self, pane: PaneId, width: int) -> None: ...


class EpochLifecycle(Struct):
    store: Store
    pipeline: EpochTextSink
    event_log: EventLog
    clock: Clock

    async def reserve_epoch(self, pane: PaneId, source: EpochSource) -> Epoch:
        """A number and a folder for what will be heard."""
        now = self.clock.now()
        return Epoch(id=await self.store.output.open_epoch(pane, source, now), pane=pane, source=source, opened_at=now)

    async def begin_epoch(self, epoch: Epoch, capture: PaneCapture) -> Epoch:
        """The epoch is being heard, and this is what the pane showed at its very start."""
        rows, begun = ([], InitialLine()) if capture.alternate else await self._find_new_rows(epoch.pane, capture)
        carry = self.pipeline.encode_first_carry(
            is_alternate=capture.alternate, at=epoch.opened_at, width=capture.width, begun=begun
        )
        await self.store.output.commit([_build_baseline(epoch, rows, carry)])
        await self.store.baseline_screens.save(epoch.id, _build_first_screen(epoch, capture))
        await self.end_gaps_before(epoch)
        heard = Epoch(id=epoch.id, pane=epoch.pane, source=epoch.source, opened_at=epoch.opened_at, carry=carry)
        self.pipeline.open_epoch(heard)
        await self.event_log.emit("epoch_opened", epoch.pane, epoch=epoch.id, source=epoch.source, baseline=len(rows))
        return heard

    async def resume_epoch(self, epoch: Epoch, *, is_stream_open: bool) -> bool:
        """Go on with an epoch that an earlier daemon left open; false when it was reserved and never heard."""
        if not (is_stream_open or epoch.carry or self.measure_size(epoch)):
            return False
        await self.end_gaps_before(epoch)
        self.pipeline.open_epoch(epoch)
        return True

    async def end_gaps_before(self, epoch: Epoch) -> None:
        """What the pane prints is in this epoch, so its gap is over."""
        await self.store.output.end_gaps(epoch.pane, before=epoch.id, at=epoch.opened_at)

    async def end_epoch(
        self, epoch: Epoch, ended_by: EpochEnd, size: int, detail: str = "", missed_since: int | None = None
    ) -> None:
        """Close an epoch with all its text. ``since``: from when on nobody listened, where that was not just now."""
        heard_until = self.clock.now()  # before we wait for the text: a full disk may make that long
        saw_end = await self.pipeline.finish_epoch(epoch.id, size)
        now = self.clock.now()
        at = min(heard_until, missed_since or self._find_close_time(epoch) or heard_until)
        cause = find_gap_cause(ended_by, saw_end=saw_end)
        gap = None
        if cause is not None:
            end_at = now if ended_by in ("pane_exited", "server_gone") else None
            gap = Gap(pane=epoch.pane, cause=cause, start_at=at, end_at=end_at, after=epoch.id, detail=detail)
        await self.store.output.close_epoch(epoch.id, ended_by, at, size, gap=gap)
        await self.event_log.emit("epoch_closed", epoch.pane, epoch=epoch.id, ended_by=ended_by, bytes=size)
        if gap is not None:
            await self._emit_gap(gap)

    async def record_missed(self, pane: PaneId, detail: str) -> None:
        """There is no way to hear this pane for now: one open gap, until it is heard."""
        if any(gap.end_at is None for gap in await self.store.output.list_gaps(pane=pane)):
            return
        gap = Gap(pane=pane, cause="link_down", start_at=self.clock.now(), detail=detail)
        await self._emit_gap(await self.store.output.record_gap(gap))

    async def end_all_gaps(self, pane: PaneId) -> None:
        """A pane that is gone prints no more: nothing goes on being missed."""
        await self.store.output.end_gaps(pane, before=None, at=self.clock.now())

    def measure_size(self, epoch: Epoch) -> int:
        """How many bytes of it are on disk."""
        with closing(SegmentReader(self.pipeline.build_folder_path(epoch))) as reader:
            return reader.read_size()

    def find_last_byte_time(self, epoch: Epoch) -> int:
        """Up to when its log vouches for the pane: its end, else its last byte, else its beginning."""
        with closing(SegmentReader(self.pipeline.build_folder_path(epoch))) as reader:
            return self._find_close_time(epoch) or reader.find_read_time(reader.read_size()) or epoch.opened_at

    def _find_close_time(self, epoch: Epoch) -> int | None:
        with closing(SegmentReader(self.pipeline.build_folder_path(epoch))) as reader:
            ended = reader.read_end()
        return ended[1] if ended else None

    async def _emit_gap(self, gap: Gap) -> None:
        data = {"cause": gap.cause, "since": format_timestamp(gap.start_at), "detail": gap.detail}
        await self.event_log.emit("gap_recorded", gap.pane, **data)

    async def _find_new_rows(self, pane: PaneId, capture: PaneCapture) -> tuple[list[str], InitialLine]:
        """All rows for a pane we never heard; after a gap those that prove to follow what we have.

        The row of the cursor is not finished: it is the beginning of the first line that will be heard.
        """
        rows = Redactor().redact_lines([row.rstrip() for row in capture.rows])
        while rows and not rows[-1]:
            rows.pop()
        column = find_cursor_column(capture, len(rows))
        begun = (
            InitialLine() if column is None else _build_begun(rows[-1], capture.rows[len(rows) - 1].rstrip(), column)
        )
        tail = await self.store.output.read_lines(pane, limit=_TAIL_LINES)
        if tail:
            new = find_rows_after_tail([line.text for line in tail], rows)
            begun = replace(begun, is_stored=new == [])
            rows = new or []
        return rows[:-1] if begun.text else rows, begun


def find_cursor_column(capture: PaneCapture, row_count: int) -> int | None:
    """In which column of the last of so many rows the cursor stands; None when it stands elsewhere.

    A row may be several rows of the screen, joined; those below it are blank, each a row of its own.
    """
    last = capture.height - 1 - (len(capture.rows) - row_count)
    if row_count == 0 or capture.cursor_y != last:
        return None
    return (max(_count_columns(capture.rows[row_count - 1]), 1) - 1) // max(
        capture.width, 1
    ) * capture.width + capture.cursor_x


def _build_begun(text: str, shown: str, column: int) -> InitialLine:
    """Where a secret was taken out, the columns of what was shown no longer fit: the line goes on at its end."""
    return InitialLine(text, column if text == shown else _count_columns(text) + 1)


def _count_columns(text: str) -> int:
    return len(text) if text.isascii() else sum(1 + (east_asian_width(character) in "WF") for character in text)


def _build_first_screen(epoch: Epoch, capture: PaneCapture) -> Screen:
    """The visible rows; some above them are looked at, too, because a secret may begin there."""
    rows = Redactor().redact_lines([row.rstrip() for row in capture.rows[-4 * capture.height :]])
    return capture.to_screen(epoch.pane, rows[-capture.height :], epoch.opened_at)


def _build_baseline(epoch: Epoch, rows: list[str], carry: bytes) -> EpochUpdate:
    at = epoch.opened_at
    parts = [tuple(rows[first : first + _BLOCK_ROWS]) for first in range(0, len(rows), _BLOCK_ROWS)]
    found = tuple(
        TextBlock(epoch=epoch.id, start=0, end=0, at=at, until=at, lines=part, source="screen") for part in parts
    )
    return EpochUpdate(pane=epoch.pane, epoch=epoch.id, committed=0, carry=carry, blocks=found, marks=())

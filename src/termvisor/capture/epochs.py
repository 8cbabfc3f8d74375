"""Open and close epochs in the store, with their baselines, gaps and events.

Invariant: an epoch's end and the gap after it are stored in one transaction; a pane has at most one open gap.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Protocol
from unicodedata import east_asian_width

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.capture.event_log import EventLog
from termvisor.capture.overlap import find_rows_after_tail
from termvisor.clock import Clock, format_timestamp
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import CommandBoundary, CommandUpdate
from termvisor.model.terminal.output import (
    Epoch,
    EpochEnd,
    EpochSource,
    Gap,
    GapCause,
    InitialLine,
    TextBlock,
)
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import Redactor, redact
from termvisor.store import EpochUpdate, Store

# Number of stored lines to look for in a new capture, to find out which of its rows are new.
_TAIL_LINES = 200
_BLOCK_ROWS = 32


class EpochTextSink(Protocol):
    """The stage that decodes an epoch's bytes to text: the pipeline."""

    captured_bytes: int

    def open_epoch(self, epoch: Epoch) -> object: ...

    async def finish_epoch(self, epoch: EpochId, size: int) -> bool: ...

    def note_growth(self, epoch: EpochId, size: int = 0) -> None: ...

    def build_folder_path(self, epoch: Epoch) -> str: ...

    def begin_epoch(
        self, epoch: Epoch, capture: PaneCapture, begun: InitialLine, shell: RecordedShellState | None
    ) -> bytes: ...

    def discard_epoch(self, epoch: EpochId) -> None: ...

    def discard_other_epochs(self, epochs: frozenset[EpochId]) -> None: ...

    def count_lost_bytes(self, epoch: EpochId) -> int: ...

    def resize_pane(self, pane: PaneId, width: int, height: int) -> None: ...


class EpochLifecycle(Struct):
    """Reserves, begins, resumes and ends epochs, keeping the store, the pipeline and the event log consistent."""

    store: Store
    pipeline: EpochTextSink
    event_log: EventLog
    clock: Clock
    read_shell_state: Callable[[int], RecordedShellState | None] = lambda pid: None
    """Returns the state that the shell of a pane recorded, given the pane's first process."""

    async def reserve_epoch(self, pane: PaneId, source: EpochSource) -> Epoch:
        """Allocate an epoch before its capture starts."""
        now = self.clock.now()
        return Epoch(id=await self.store.output.open_epoch(pane, source, now), pane=pane, source=source, opened_at=now)

    async def begin_epoch(self, epoch: Epoch, capture: PaneCapture, pid: int = 0) -> Epoch:
        """Store what the pane shows at the start of the capture, end its gaps and start decoding.

        ``pid`` is the pane's first process.
        """
        shell = self._find_shell_state(epoch, capture, pid)
        main = capture.main if capture.alternate else capture
        rows, begun = await self._find_new_rows(epoch.pane, main) if main else ([], InitialLine())
        carry = self.pipeline.begin_epoch(epoch, capture, begun, shell)
        stored = await self.store.output.commit([_build_baseline(epoch, rows, carry, shell)])
        await self.store.baseline_screens.save(epoch.id, _build_first_screen(epoch, capture))
        await self.end_gaps_before(epoch)
        begun_epoch = replace(epoch, carry=carry, next_line=stored.last_lines[epoch.pane] + 1)
        self.pipeline.open_epoch(begun_epoch)
        await self.event_log.emit("epoch_opened", epoch.pane, epoch=epoch.id, source=epoch.source, baseline=len(rows))
        return begun_epoch

    def _find_shell_state(self, epoch: Epoch, capture: PaneCapture, pid: int) -> RecordedShellState | None:
        """Return the state that the pane's shell recorded before the capture, with the column where its input begins.

        A command that is recorded only now started while the pipe was opened: its mark may still arrive.
        """
        shell = self.read_shell_state(pid) if pid else None
        if shell is None or (shell.kind == "command" and shell.at >= epoch.opened_at):
            return None
        cwd = None if shell.cwd is None else redact(shell.cwd)
        return replace(shell, cwd=cwd, input_column=find_input_column(capture, shell))

    async def resume_epoch(self, epoch: Epoch, *, is_stream_open: bool) -> bool:
        """Continue an epoch that an earlier daemon left open; return False if it was reserved but never captured."""
        if not (is_stream_open or epoch.carry or self.measure_size(epoch)):
            return False
        await self.end_gaps_before(epoch)
        self.pipeline.open_epoch(epoch)
        return True

    async def end_gaps_before(self, epoch: Epoch) -> None:
        """End the pane's open gap at the start of this epoch."""
        await self.store.output.end_gaps(epoch.pane, before=epoch.id, at=epoch.opened_at)

    async def end_epoch(self, epoch: Epoch, ended_by: EpochEnd, size: int, detail: str = "") -> None:
        """Close an epoch after storing all its text, and record the gap that follows it.

        The gap starts where the log ends, or at the last captured byte if the log has no end: whatever was printed
        after it may be missing.
        """
        called_at = self.clock.now()  # before waiting for the text to be stored, which a full disk may delay
        # The recorder reads a terminal of ours until the kernel says that all was read.
        saw_end = await self.pipeline.finish_epoch(epoch.id, size) or epoch.source == "pty"
        now = self.clock.now()
        at = min(called_at, called_at if ended_by == "joined" else self.find_last_byte_time(epoch))
        cause = find_gap_cause(ended_by, saw_end=saw_end)
        gap = None
        if cause is not None:
            end_at = now if ended_by in ("pane_exited", "server_gone") else None
            gap = Gap(pane=epoch.pane, cause=cause, start_at=at, end_at=end_at, after=epoch.id, detail=detail)
        await self.store.output.close_epoch(epoch.id, ended_by, at, size, gap=gap)
        self.pipeline.discard_epoch(epoch.id)
        await self.event_log.emit("epoch_closed", epoch.pane, epoch=epoch.id, ended_by=ended_by, bytes=size)
        if gap is not None:
            await self._emit_gap(gap)

    async def record_missed(self, pane: PaneId, detail: str) -> None:
        """Record a gap for a pane that cannot be captured now, unless it already has an open gap."""
        if any(gap.end_at is None for gap in await self.store.output.list_gaps(pane=pane)):
            return
        gap = Gap(pane=pane, cause="link_down", start_at=self.clock.now(), detail=detail)
        await self._emit_gap(await self.store.output.record_gap(gap))

    async def record_uncaptured(self, pane: PaneId, detail: str) -> None:
        """Record that no output of a pane was captured, from its first sighting until now."""
        stored, now = await self.store.panes.find(pane), self.clock.now()
        start_at = stored.first_seen_at if stored else now
        gap = Gap(pane=pane, cause="link_down", start_at=start_at, end_at=now, detail=detail)
        await self._emit_gap(await self.store.output.record_gap(gap))

    async def end_all_gaps(self, pane: PaneId) -> None:
        """End the gaps of a pane that is gone and prints nothing any more."""
        await self.store.output.end_gaps(pane, before=None, at=self.clock.now())

    def measure_size(self, epoch: Epoch) -> int:
        """Return the size of the epoch's raw log in bytes."""
        with closing(SegmentReader(self.pipeline.build_folder_path(epoch))) as reader:
            return reader.read_size()

    def find_last_byte_time(self, epoch: Epoch) -> int:
        """Return when the log ended or, if unknown, when its last byte was read or the epoch was opened."""
        with closing(SegmentReader(self.pipeline.build_folder_path(epoch))) as reader:
            if end := reader.read_end():
                return end[1]
            size = reader.read_size()
            return (reader.find_read_time(size - 1) if size else 0) or epoch.opened_at

    async def _emit_gap(self, gap: Gap) -> None:
        data = {"cause": gap.cause, "since": format_timestamp(gap.start_at), "detail": gap.detail}
        await self.event_log.emit("gap_recorded", gap.pane, **data)

    async def _find_new_rows(self, pane: PaneId, capture: PaneCapture) -> tuple[list[str], InitialLine]:
        """Return the rows of a capture that are not stored yet, and the unfinished line at the cursor.

        All rows are new if the pane has no stored lines. After a gap, only rows that provably follow stored lines are.
        """
        rows = Redactor().redact_lines([row.rstrip() for row in capture.rows])
        while rows and not rows[-1]:
            rows.pop()
        column = find_cursor_column(capture, len(rows))
        begun = InitialLine()
        if column is not None:
            # Redaction shifts the columns, so the line continues at its end.
            is_shown = rows[-1] == capture.rows[len(rows) - 1].rstrip()
            begun = InitialLine(rows[-1], column if is_shown else _count_columns(rows[-1]) + 1)
        tail = await self.store.output.read_lines(pane, limit=_TAIL_LINES)
        if tail:
            new_rows = find_rows_after_tail([line.text for line in tail], rows)
            begun = replace(begun, is_stored=new_rows == [])
            rows = new_rows or []
        return rows[:-1] if begun.text else rows, begun


def find_gap_cause(ended_by: EpochEnd, *, saw_end: bool) -> GapCause | None:
    """Return the cause of the gap after an epoch, or None if nothing was missed.

    If a program exited without its end mark, its last output may be lost.
    """
    if ended_by == "joined":
        return None
    if ended_by == "pane_exited":
        return None if saw_end else "tail_uncertain"
    return "recorder_restart" if ended_by == "stopped" else ended_by


def find_cursor_column(capture: PaneCapture, row_count: int) -> int | None:
    """Return the cursor's column in the last of ``row_count`` rows, or None if it is in another row.

    A captured row may join several wrapped rows of the screen. Blank rows below it are never joined.
    """
    last = capture.height - 1 - (len(capture.rows) - row_count)
    if row_count == 0 or capture.cursor_y != last:
        return None
    wrapped_rows = (max(_count_columns(capture.rows[row_count - 1]), 1) - 1) // max(capture.width, 1)
    return wrapped_rows * capture.width + capture.cursor_x


def find_input_column(capture: PaneCapture, shell: RecordedShellState) -> int | None:
    """Return the column where the input of a shell at its prompt begins; None if it is not certain."""
    rows = [row.rstrip() for row in capture.rows]
    while rows and not rows[-1]:
        rows.pop()
    cursor = find_cursor_column(capture, len(rows))
    if shell.kind != "prompt" or cursor is None:
        return None
    if shell.prompt_chars is not None:
        return _count_columns(rows[-1].ljust(shell.prompt_chars)[: shell.prompt_chars])
    return cursor if shell.is_input_empty else shell.input_column


def _count_columns(text: str) -> int:
    return len(text) if text.isascii() else sum(1 + (east_asian_width(character) in "WF") for character in text)


def _build_first_screen(epoch: Epoch, capture: PaneCapture) -> Screen:
    """Return the visible rows, redacted together with the rows above them, where a secret may begin."""
    rows = Redactor().redact_lines([row.rstrip() for row in capture.rows[-4 * capture.height :]])
    return capture.to_screen(epoch.pane, rows[-capture.height :], epoch.opened_at)


def _build_baseline(epoch: Epoch, rows: list[str], carry: bytes, shell: RecordedShellState | None) -> EpochUpdate:
    at = epoch.opened_at
    chunks = [tuple(rows[first : first + _BLOCK_ROWS]) for first in range(0, len(rows), _BLOCK_ROWS)]
    blocks = tuple(
        TextBlock(epoch=epoch.id, start=0, end=0, at=at, until=at, lines=lines, source="screen") for lines in chunks
    )
    running = shell if shell is not None and shell.kind == "command" else None
    return EpochUpdate(
        pane=epoch.pane,
        epoch=epoch.id,
        committed=0,
        carry=carry,
        blocks=blocks,
        commands=(CommandUpdate(start=0, started_at=running.at, cwd=running.cwd, is_proven=True),) if running else (),
        edges=((CommandBoundary(0, 0, False), len(rows)),) if running else (),
    )

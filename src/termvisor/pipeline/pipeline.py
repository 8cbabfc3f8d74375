"""Read the epochs that have grown, one slice of each in turn, and store their text in small batches.

The recorder client calls note_growth(); run() reads, decodes and commits. Invariant: reading pauses until the
last batch is stored, so a full disk delays output but never loses any.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from msgspec import Struct

from termvisor.backends.pane_source import PaneCapture
from termvisor.bus import Bus
from termvisor.capture.output_rate import RateMeter
from termvisor.capture.screen_sampler import PaintActivity
from termvisor.clock import NS, Clock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch, Gap, InitialLine, Mark
from termvisor.model.terminal.shell_state import RecordedShellState
from termvisor.pipeline.epoch_reader import EpochReader, SnapshotSchedule, encode_first_carry
from termvisor.pipeline.epoch_text import seed_window
from termvisor.pipeline.json_lines import PrintedLine
from termvisor.pipeline.line_reader import LineReader
from termvisor.pipeline.read_schedule import MAX_TURN_S, ReadSchedule
from termvisor.pipeline.rule_matcher import RuleMatch, RuleMatcher
from termvisor.pipeline.window_files import WindowFiles
from termvisor.redaction import SeenSecrets
from termvisor.store import EpochUpdate
from termvisor.store.tables.output import CommitResult, OutputTable

_SLICE_BYTES = 1 << 18
# Commit early above this, to bound memory.
_MAX_UNSTORED_BYTES = 1 << 21
# Memory that a line takes in addition to its text, so that many short lines are committed as early as a few long ones.
_LINE_OVERHEAD_BYTES = 64
# Read this long before yielding to the event loop: a yield after every small slice costs more than the slice.
_YIELD_INTERVAL_S = 0.002
_STORE_RETRY_DELAY_S = 2.0
# Reading this much takes less than half a second.
_MAX_AWAITED_BYTES = 1 << 22
# Delay before reading, so that more output can arrive; skipped if a caller waits for the result.
_COALESCE_DELAY_S = 0.015

T = TypeVar("T")
log = get_logger("pipeline")


class FlushWaiter(Struct):
    """A caller waiting until each of these logs is stored up to the given size."""

    sizes: dict[EpochId, int]
    done: asyncio.Future[None]


class Pipeline:
    """Owner of the readers of all open epochs. The on_… callbacks are set when the daemon is assembled."""

    def __init__(
        self, store: OutputTable, *, raw_dir: str, clock: Clock, flush_interval: float, nonce: str | None = None
    ):
        self._store, self._raw_dir, self._clock, self.nonce = store, raw_dir, clock, nonce
        self.flush_interval = flush_interval
        """Seconds that settled lines may wait to be committed together."""
        self.window_files = WindowFiles(raw_dir)
        self._readers: dict[EpochId, EpochReader] = {}
        self._next_lines: dict[PaneId, int] = {}
        """Number of the next line that is stored for each pane."""
        self._grown_epochs = ReadSchedule()
        self._unstored_readers: dict[EpochId, EpochReader] = {}
        self._unstored_bytes = 0
        self._flush_at: float | None = None
        self._snapshots = SnapshotSchedule(clock)
        self._finish_futures: dict[EpochId, asyncio.Future[bool]] = {}
        self._flush_waiters: list[FlushWaiter] = []
        self._storing_readers: dict[EpochId, EpochReader] = {}
        self._wake, self._waiter_added = asyncio.Event(), asyncio.Event()
        self.changed_panes: Bus[PaneId] = Bus()
        self.events: Bus[Event] = Bus()
        """Events found in output. They are stored together with the read offset, so each is published once."""
        self.matcher = RuleMatcher(clock.now)
        """Matches rules against the text; has no rules until they are loaded."""
        self.on_paint_activity: Callable[[PaintActivity], None] = lambda activity: None
        """Called for every pane that repaints its screen."""
        self.on_status_marks: Callable[[Epoch, list[tuple[int, Mark]]], None] = lambda epoch, marks: None
        """Called with the marks that show a program's status (title, progress, bell, …) and their times."""
        self.on_json_lines: Callable[[Epoch, list[PrintedLine]], None] = lambda epoch, lines: None
        """Called with lines that may be JSON messages of an agent."""
        self.rate_meters: dict[PaneId, RateMeter] = {}
        self.current_readers: dict[PaneId, EpochReader] = {}
        self.lines = LineReader(store, self.current_readers, self._next_lines)
        self.max_lag_s = self.average_lag_s = 0.0
        self.captured_bytes = 0
        self.storage_error = ""
        """Error message while text cannot be stored; empty otherwise."""

    def build_folder_path(self, epoch: Epoch) -> str:
        return f"{self._raw_dir}/{epoch.pane}/{epoch.id}"

    def begin_epoch(
        self, epoch: Epoch, capture: PaneCapture, begun: InitialLine, shell: RecordedShellState | None = None
    ) -> bytes:
        """Save what the pane shows at the start of an epoch; return the carry to store with it."""
        return encode_first_carry(epoch, seed_window(epoch, capture, begun, self.window_files), shell)

    def discard_epoch(self, epoch: EpochId) -> None:
        """Delete the decoder state of an epoch that was closed."""
        self.window_files.delete_all(epoch)

    def open_epoch(self, epoch: Epoch) -> EpochReader:
        """Start reading an epoch at its committed offset and return its reader."""
        if epoch.id in self._readers:
            return self._readers[epoch.id]
        reader = EpochReader(epoch, self.build_folder_path(epoch), self.nonce, self.window_files, self.matcher)
        self._readers[epoch.id] = reader
        self._next_lines[epoch.pane] = max(epoch.next_line, self._next_lines.get(epoch.pane, 1))
        self.current_readers[epoch.pane] = reader
        self.note_growth(epoch.id)
        self._report_paint_activity(reader)
        return reader

    def discard_other_epochs(self, epochs: frozenset[EpochId]) -> None:
        """Delete the decoder state of all epochs but these, which an earlier daemon may have left."""
        self.window_files.delete_strays(epochs)

    def count_lost_bytes(self, epoch: EpochId) -> int:
        """Return how many bytes of an open epoch, already read by an earlier daemon, are no longer in its log."""
        reader = self._readers.get(epoch)
        return reader.text.lost_bytes if reader else 0

    def get_secrets(self, pane: PaneId) -> SeenSecrets:
        """Return the secrets that a pane showed recently, to redact pieces of them as well."""
        reader = self.current_readers.get(pane)
        return reader.refresh_secrets() if reader else SeenSecrets()

    def retry_pending_matches(self, pane: PaneId, matches: Iterable[RuleMatch] = ()) -> None:
        """Retry the pending matches and new ``matches`` of the screen, because an agent was recognised in the pane."""
        reader = self.current_readers.get(pane)
        if reader is not None and reader.add_pending_matches(matches):
            self._flush_soon(reader)

    def resize_pane(self, pane: PaneId, width: int, height: int) -> None:
        reader = self.current_readers.get(pane)
        if reader is not None and reader.final_size is None and reader.resize(width, height):
            self._flush_soon(reader)

    def _flush_soon(self, reader: EpochReader) -> None:
        """Store what a reader has to store although it read nothing."""
        self._unstored_readers[reader.epoch.id] = reader
        self._flush_at = self._clock.monotonic() if self._flush_at is None else self._flush_at
        self._wake.set()

    def note_growth(self, epoch: EpochId, size: int = 0) -> None:
        """Record that an epoch's log grew, to ``size`` bytes if that is known."""
        if reader := self._readers.get(epoch):
            reader.known_size = max(reader.known_size, size)
            self._grown_epochs.add(epoch)
            self._wake.set()

    def read_pane_now(self, pane: PaneId) -> None:
        """Read the rest of a pane's log now instead of in run(), because its program has exited."""
        reader = self.current_readers.get(pane)
        if reader is not None and reader.epoch.id in self._readers and reader.final_size is None:
            self._read_epoch(reader.epoch.id)
            self._grown_epochs.add(reader.epoch.id)
            self._wake.set()

    async def finish_epoch(self, epoch: EpochId, size: int) -> bool:
        """Wait until all text of a closed epoch is stored; return True if it ends with the end mark."""
        reader = self._readers.get(epoch)
        if reader is None:
            return False
        reader.final_size = size
        future = self._finish_futures.setdefault(epoch, asyncio.get_running_loop().create_future())
        self.note_growth(epoch, size)
        return await future

    async def wait_settled(self, pane: PaneId | None = None, *, leaves_slow: bool = False) -> None:
        """Wait until the current raw logs (of one pane or of all) are stored; return at once if storing fails.

        With ``leaves_slow``, epochs that are slow to decode or far behind are not waited for.
        """
        if self.storage_error:
            return
        sizes = {
            epoch: size
            for epoch, reader in self._readers.items()
            if pane in (None, reader.epoch.pane)
            and not (leaves_slow and self._grown_epochs.is_slow(epoch))
            and ((size := reader.reader.read_size()) - reader.read_offset < _MAX_AWAITED_BYTES or not leaves_slow)
        }
        for epoch, size in sizes.items():
            self.note_growth(epoch, size)
        await self._wait_for_flush(sizes)

    async def wait_stored(self, pane: PaneId) -> None:
        """Wait until everything read from this pane so far is stored."""
        if reader := self.current_readers.get(pane):
            await self._wait_for_flush({reader.epoch.id: reader.read_offset})

    async def _wait_for_flush(self, sizes: dict[EpochId, int]) -> None:
        if all(self._is_stored(epoch, size) for epoch, size in sizes.items()):
            return
        waiter = FlushWaiter(sizes, asyncio.get_running_loop().create_future())
        self._flush_waiters.append(waiter)
        self._wake.set()
        self._waiter_added.set()
        await waiter.done

    def _is_stored(self, epoch: EpochId, size: int) -> bool:
        is_read = epoch in self._readers and self._readers[epoch].read_offset >= size
        return is_read and epoch not in self._unstored_readers and epoch not in self._storing_readers

    @property
    def backlog_bytes(self) -> int:
        """Number of bytes in the raw logs that are not decoded yet."""
        return sum(
            max(0, reader.reader.read_size() - reader.read_offset)
            for reader in map(self._readers.get, self._grown_epochs)
            if reader
        )

    @property
    def queue_depth(self) -> int:
        return len(self._grown_epochs)

    async def run(self) -> None:
        while True:
            await self._wait_for_work()
            await self._read_grown_epochs()
            for reader in self._snapshots.take_quiet_readers():
                self._flush_soon(reader)
            ready_waiters = [waiter for waiter in self._flush_waiters if self._is_waiter_ready(waiter)]
            if ready_waiters or self._is_flush_due():
                await self._flush_unstored()
            for waiter in ready_waiters:
                self._flush_waiters.remove(waiter)
                _resolve_future(waiter.done, None)

    def _is_waiter_ready(self, waiter: FlushWaiter) -> bool:
        return not any(
            epoch in self._grown_epochs and epoch in self._readers and self._readers[epoch].read_offset < size
            for epoch, size in waiter.sizes.items()
        )

    def _is_flush_due(self) -> bool:
        """Return True if decoded text has waited long enough, or if finish_epoch() waits for it."""
        if self._flush_at is None:
            return False
        return self._clock.monotonic() >= self._flush_at or not self._finish_futures.keys() <= self._readers.keys()

    async def _wait_for_work(self) -> None:
        next_pass = self._grown_epochs.find_next_pass()
        if next_pass is not None and next_pass <= self._clock.monotonic():
            return
        times = [at for at in (self._flush_at, next_pass, self._snapshots.due_at) if at is not None]
        due = max(0.0, min(times) - self._clock.monotonic()) if times else None
        try:
            # Not wait_for(), which may swallow a cancellation in Python 3.11.
            async with asyncio.timeout(due):
                await self._wake.wait()
        except TimeoutError:
            # A flush, a snapshot or the next pass is due.
            return
        if not self._flush_waiters:
            # Allow time for more output to arrive, unless a caller starts to wait.
            with suppress(TimeoutError):
                async with asyncio.timeout(_COALESCE_DELAY_S):
                    await self._waiter_added.wait()
        self._wake.clear()
        self._waiter_added.clear()

    async def _read_grown_epochs(self) -> None:
        """Read one slice of each epoch that grew, so that a flood in one pane does not delay the others."""
        until = self._clock.monotonic() + _YIELD_INTERVAL_S
        for epoch in self._grown_epochs.iterate_pass(self._clock.monotonic()):
            self._read_epoch(epoch)
            if self._unstored_bytes > _MAX_UNSTORED_BYTES:
                await self._flush_unstored()
            if self._clock.monotonic() >= until:
                await asyncio.sleep(0)
                until = self._clock.monotonic() + _YIELD_INTERVAL_S
        await asyncio.sleep(0)

    def _read_epoch(self, epoch: EpochId) -> None:
        reader = self._readers[epoch]
        began = self._clock.monotonic()
        size = reader.read_step(_SLICE_BYTES, lambda: self._clock.monotonic() >= began + MAX_TURN_S)
        now = self._clock.monotonic()
        self._grown_epochs.record_turn(epoch, size, now - began, now)
        if size == 0 or reader.is_fully_read or reader.read_offset == reader.known_size:
            self._grown_epochs.discard(epoch)
        if reader.final_size is not None and (size == 0 or reader.is_fully_read):
            reader.finish()
            del self._readers[epoch]
            self._grown_epochs.discard(epoch)
        elif size == 0:
            return
        self._report_paint_activity(reader)
        if marks := reader.take_status_marks():
            self.on_status_marks(reader.epoch, marks)
        if lines := reader.json_lines.take_lines():
            self.on_json_lines(reader.epoch, lines)
        self._count_read(reader, size)

    def _report_paint_activity(self, reader: EpochReader) -> None:
        if activity := reader.take_paint_activity():
            self.on_paint_activity(activity)

    def _count_read(self, reader: EpochReader, size: int) -> None:
        now = self._clock.monotonic()
        self._unstored_readers[reader.epoch.id] = reader
        self._unstored_bytes += size + _LINE_OVERHEAD_BYTES * reader.lines_read
        if self._flush_at is None:
            self._flush_at = now + self.flush_interval
        self.captured_bytes += size
        if size:
            if (meter := self.rate_meters.get(reader.epoch.pane)) is None:
                meter = self.rate_meters[reader.epoch.pane] = RateMeter()
            meter.count(size, reader.last_byte_at, now)
            self.changed_panes.publish(reader.epoch.pane)

    async def _flush_unstored(self) -> None:
        readers, self._unstored_readers = self._unstored_readers, {}
        self._storing_readers = readers
        self._unstored_bytes, self._flush_at = 0, None
        gaps = [gap for reader in readers.values() for gap in reader.take_gaps()]
        batch = [progress for reader in readers.values() if (progress := reader.take_progress())]
        if batch:
            await self._commit_batch(batch, gaps)
            self._measure_lag(readers)
        self._storing_readers = {}
        for progress in batch:
            if readers[progress.epoch].has_new_lines or progress.commands:
                self.changed_panes.publish(progress.pane)
        for reader in readers.values():
            self._release_reader(reader)
        self._snapshots.add_readers(readers.values())

    async def _commit_batch(self, batch: list[EpochUpdate], gaps: list[Gap]) -> None:
        """Store a batch, retrying until it succeeds. Nothing is read in the meantime."""
        while True:
            try:
                while gaps:
                    await self._store.record_gap(gaps[0])
                    del gaps[0]
                stored = await self._store.commit(batch)
            except StorageError as error:
                # Release callers that wait for stored text, because the disk may stay full for hours.
                if not self.storage_error:
                    log.error("text cannot be stored: %s", error)
                self.storage_error = f"text cannot be stored: {error}"
                for waiter in self._flush_waiters:
                    _resolve_future(waiter.done, None)
                await self._clock.sleep(_STORE_RETRY_DELAY_S)
            else:
                self.storage_error = ""
                self._confirm_stored(batch, stored)
                for event in stored.events:
                    self.events.publish(event)
                return

    def _confirm_stored(self, batch: list[EpochUpdate], stored: CommitResult) -> None:
        """Count the stored lines. Must not wait, because readers would see a line twice or not at all."""
        for pane, last in stored.last_lines.items():
            self._next_lines[pane] = last + 1
        for update in batch:
            self._storing_readers[update.epoch].text.confirm_stored()

    def _release_reader(self, reader: EpochReader) -> None:
        """Drop a finished epoch once its last byte is stored, and resolve its finish_epoch()."""
        epoch, pane = reader.epoch.id, reader.epoch.pane
        if epoch in self._readers:
            return
        if self.current_readers.get(pane) is reader:
            del self.current_readers[pane], self._next_lines[pane]
            self.rate_meters.pop(pane, None)
        future = self._finish_futures.pop(epoch, None)
        if future is not None:
            _resolve_future(future, reader.has_end_mark)

    def _measure_lag(self, readers: dict[EpochId, EpochReader]) -> None:
        now = self._clock.now()
        lags = [max(0.0, (now - reader.last_byte_at) / NS) for reader in readers.values()]
        self.max_lag_s = max(lags)
        self.average_lag_s = sum(lags) / len(lags)


def _resolve_future(future: asyncio.Future[T], result: T) -> None:
    # The waiting task may have been cancelled.
    if not future.done():
        future.set_result(result)

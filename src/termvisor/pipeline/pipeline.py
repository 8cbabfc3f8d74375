"""Reads the epochs that grew, a slice each in turn, and stores what they said in small batches."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol, TypeVar

from msgspec import Struct

from termvisor.bus import Bus
from termvisor.capture.output_rate import RateMeter
from termvisor.capture.sampling_schedule import PaintActivity
from termvisor.clock import NS, Clock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import NO_INITIAL_LINE, Epoch, Gap, InitialLine
from termvisor.pipeline.epoch_reader import EpochReader, encode_first_carry
from termvisor.pipeline.json_lines import PrintedLine
from termvisor.pipeline.rule_match import RuleMatch
from termvisor.pipeline.rule_matcher import RuleMatcher
from termvisor.redaction import SeenSecrets
from termvisor.store import CommitResult, EpochUpdate

_SLICE_BYTES = 1 << 18
_MAX_UNSTORED_BYTES = 1 << 21
_LINE_OVERHEAD_BYTES = 64
"""What a line takes in memory beside its text: many short ones are stored as early as few long ones."""
_MAX_TURN_S = 0.05
"""Seconds of one epoch's turn: bytes made to be hard to read hold up no other pane."""
_YIELD_INTERVAL_S = 0.002
"""Seconds of reading before others have a turn: one after every small slice would cost more than the slice."""
_STORE_RETRY_DELAY_S = 2.0
_COALESCE_DELAY_S = 0.015

T = TypeVar("T")
log = get_logger("pipeline")


class OutputStore(Protocol):
    async def commit(self, batch: list[EpochUpdate]) -> CommitResult: ...

    async def record_gap(self, gap: Gap) -> Gap: ...


class FlushWaiter(Struct):
    """Somebody waits until each of these logs is stored up to here."""

    sizes: dict[EpochId, int]
    done: asyncio.Future[None]


class Pipeline:
    """Reads the epochs that grew, and stores what they said in small batches."""

    def __init__(
        self, store: OutputStore, *, raw_dir: str, clock: Clock, flush_interval: float, nonce: str | None = None
    ):
        self._store, self._raw_dir, self._clock, self.nonce = store, raw_dir, clock, nonce
        self._flush_interval = flush_interval
        self._readers: dict[EpochId, EpochReader] = {}
        self._grown_epochs: set[EpochId] = set()
        self._unstored_readers: dict[EpochId, EpochReader] = {}
        self._unstored_bytes = 0
        self._has_more = False
        self._flush_at: float | None = None
        self._finish_futures: dict[EpochId, asyncio.Future[bool]] = {}
        self._flush_waiters: list[FlushWaiter] = []
        self._storing_readers: dict[EpochId, EpochReader] = {}
        self._wake, self._waiter_added = asyncio.Event(), asyncio.Event()
        self.changed_panes: Bus[PaneId] = Bus()
        self.events: Bus[Event] = Bus()
        """Events of the stream, stored together with the offset they were read up to: each exactly once."""
        self.matcher = RuleMatcher(clock.now)
        """What looks for rules in the text; without any until it is given some."""
        self.on_paint_activity: Callable[[PaintActivity], None] = lambda stir: None
        """Told of every pane that paints on its screen."""
        self.on_status_marks: Callable[[Epoch, list[tuple[int, Mark]]], None] = lambda epoch, marks: None
        """Told of the marks by which programs say how they are doing, with their times."""
        self.on_json_lines: Callable[[Epoch, list[PrintedLine]], None] = lambda epoch, lines: None
        """Told of lines that may be meant for programs."""
        self.rate_meters: dict[PaneId, RateMeter] = {}
        self.current_readers: dict[PaneId, EpochReader] = {}
        self.max_lag_s = self.average_lag_s = 0.0
        self.captured_bytes = 0
        self.storage_error = ""
        """What keeps text from being stored right now, for a person to read."""

    def set_flush_interval(self, seconds: float) -> None:
        """How long settled lines may wait to be stored together, from now on."""
        self._flush_interval = seconds

    def build_folder_path(self, epoch: Epoch) -> str:
        return f"{self._raw_dir}/{epoch.pane}/{epoch.id}"

    def open_epoch(self, epoch: Epoch) -> EpochReader:
        """Begin with a new epoch, or go on with one where its text was last stored."""
        if epoch.id in self._readers:
            return self._readers[epoch.id]
        text = EpochReader(epoch, self.build_folder_path(epoch), self.nonce, self.matcher)
        self._readers[epoch.id] = text
        self.current_readers[epoch.pane] = text
        self.note_growth(epoch.id)
        self._report_paint_activity(text)
        return text

    def get_secrets(self, pane: PaneId) -> SeenSecrets:
        """What a pane showed of late that must not be shown again, not even in pieces."""
        text = self.current_readers.get(pane)
        return text.refresh_secrets() if text else SeenSecrets()

    def retry_pending_matches(self, pane: PaneId, matches: Iterable[RuleMatch] = ()) -> None:
        """An agent was recognised in a pane: what was said there before may be its own, and is stored as such."""
        text = self.current_readers.get(pane)
        if text is not None and text.add_pending_matches(matches):
            self._unstored_readers[text.epoch.id] = text
            self._flush_at = self._clock.monotonic() if self._flush_at is None else self._flush_at
            self._wake.set()

    def resize_pane(self, pane: PaneId, width: int) -> None:
        """A pane has so many columns from now on."""
        if text := self.current_readers.get(pane):
            text.set_width(width)

    def encode_first_carry(
        self, *, is_alternate: bool, at: int = 0, width: int = 0, begun: InitialLine = NO_INITIAL_LINE
    ) -> bytes:
        return encode_first_carry(is_alternate=is_alternate, at=at, width=width, begun=begun)

    def note_growth(self, epoch: EpochId, size: int = 0) -> None:
        """There are more bytes; up to ``size``, where the teller knows."""
        if text := self._readers.get(epoch):
            text.known_size = max(text.known_size, size)
            self._grown_epochs.add(epoch)
            self._wake.set()

    def read_pane_now(self, pane: PaneId) -> None:
        """What stands in the log of this pane and was not read: a program that ended has said all by now."""
        text = self.current_readers.get(pane)
        if text is not None and text.epoch.id in self._readers and text.final_size is None:
            self._read_epoch(text.epoch.id)
            self._grown_epochs.add(text.epoch.id)
            self._wake.set()

    async def finish_epoch(self, epoch: EpochId, size: int) -> bool:
        """Every byte of a closed epoch becomes stored text; whether its program said that this is the end."""
        text = self._readers.get(epoch)
        if text is None:
            return False
        text.final_size = size
        future = self._finish_futures.setdefault(epoch, asyncio.get_running_loop().create_future())
        self.note_growth(epoch, size)
        return await future

    async def wait_settled(self, pane: PaneId | None = None) -> None:
        """Wait until all that is in the raw logs at this moment, or in that of one pane, is stored, if it can be."""
        if self.storage_error:
            return
        sizes = {
            epoch: text.reader.read_size() for epoch, text in self._readers.items() if pane in (None, text.epoch.pane)
        }
        for epoch, size in sizes.items():
            self.note_growth(epoch, size)
        await self._wait_for_flush(sizes)

    async def wait_stored(self, pane: PaneId) -> None:
        """Wait until everything that was read of this pane is stored."""
        if text := self.current_readers.get(pane):
            await self._wait_for_flush({text.epoch.id: text.read_offset})

    async def _wait_for_flush(self, sizes: dict[EpochId, int]) -> None:
        if all(self._is_stored(epoch, size) for epoch, size in sizes.items()):
            return
        wish = FlushWaiter(sizes, asyncio.get_running_loop().create_future())
        self._flush_waiters.append(wish)
        self._wake.set()
        self._waiter_added.set()
        await wish.done

    def _is_stored(self, epoch: EpochId, size: int) -> bool:
        is_read = epoch in self._readers and self._readers[epoch].read_offset >= size
        return is_read and epoch not in self._unstored_readers and epoch not in self._storing_readers

    @property
    def backlog_bytes(self) -> int:
        """Bytes in the raw logs that are not text yet, as far as we were told."""
        return sum(
            max(0, text.reader.read_size() - text.read_offset)
            for text in map(self._readers.get, self._grown_epochs)
            if text
        )

    @property
    def queue_depth(self) -> int:
        return len(self._grown_epochs)

    async def run(self) -> None:
        while True:
            await self._wait_for_work()
            await self._read_grown_epochs()
            met = [wish for wish in self._flush_waiters if self._is_waiter_ready(wish)]
            if met or self._is_flush_due():
                await self._flush_unstored()
            for wish in met:
                self._flush_waiters.remove(wish)
                _resolve_future(wish.done, None)

    def _is_waiter_ready(self, waiter: FlushWaiter) -> bool:
        return not any(
            epoch in self._grown_epochs and epoch in self._readers and self._readers[epoch].read_offset < size
            for epoch, size in waiter.sizes.items()
        )

    def _is_flush_due(self) -> bool:
        """Whether what was read has waited long enough, or is the last of an epoch that somebody waits for."""
        if self._flush_at is None:
            return False
        return self._clock.monotonic() >= self._flush_at or not self._finish_futures.keys() <= self._readers.keys()

    async def _wait_for_work(self) -> None:
        if self._has_more:
            return
        due = None if self._flush_at is None else max(0.0, self._flush_at - self._clock.monotonic())
        try:
            async with asyncio.timeout(due):  # wait_for of Python 3.11 may swallow a cancellation
                await self._wake.wait()
        except TimeoutError:
            return
        if not self._flush_waiters:
            await self._coalesce()
        self._wake.clear()
        self._waiter_added.clear()

    async def _coalesce(self) -> None:
        """What comes in quick succession is read together, unless somebody waits for it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_COALESCE_DELAY_S):
                await self._waiter_added.wait()

    async def _read_grown_epochs(self) -> None:
        """One slice of each epoch that grew, so that a flood in one pane holds up no other."""
        self._has_more = False
        until = self._clock.monotonic() + _YIELD_INTERVAL_S
        for epoch in list(self._grown_epochs):
            self._read_epoch(epoch)
            self._has_more = self._has_more or epoch in self._grown_epochs
            if self._unstored_bytes > _MAX_UNSTORED_BYTES:
                await self._flush_unstored()
            if self._clock.monotonic() >= until:
                await asyncio.sleep(0)
                until = self._clock.monotonic() + _YIELD_INTERVAL_S
        await asyncio.sleep(0)

    def _read_epoch(self, epoch: EpochId) -> None:
        text = self._readers[epoch]
        until = self._clock.monotonic() + _MAX_TURN_S
        size = text.read_step(_SLICE_BYTES, lambda: self._clock.monotonic() > until)
        if size == 0 or text.is_fully_read or text.read_offset == text.known_size:
            self._grown_epochs.discard(epoch)
        if text.final_size is not None and (size == 0 or text.is_fully_read):
            text.finish()
            del self._readers[epoch]
            self._grown_epochs.discard(epoch)
        elif size == 0:
            return
        self._report_paint_activity(text)
        if said := text.take_status_marks():
            self.on_status_marks(text.epoch, said)
        if printed := text.take_json_lines():
            self.on_json_lines(text.epoch, printed)
        self._count_read(text, size)

    def _report_paint_activity(self, reader: EpochReader) -> None:
        if stir := reader.take_paint_activity():
            self.on_paint_activity(stir)

    def _count_read(self, reader: EpochReader, size: int) -> None:
        now = self._clock.monotonic()
        self._unstored_readers[reader.epoch.id] = reader
        self._unstored_bytes += size + _LINE_OVERHEAD_BYTES * reader.lines_read
        if self._flush_at is None:
            self._flush_at = now + self._flush_interval
        self.captured_bytes += size
        if size:
            self.rate_meters.setdefault(reader.epoch.pane, RateMeter()).count(size, reader.last_byte_at, now)
            self.changed_panes.publish(reader.epoch.pane)

    async def _flush_unstored(self) -> None:
        texts, self._unstored_readers = self._unstored_readers, {}
        self._storing_readers = texts
        self._unstored_bytes, self._flush_at = 0, None
        holes = [hole for text in texts.values() for hole in text.take_gaps()]
        batch = [progress for text in texts.values() if (progress := text.take_progress())]
        if batch:
            await self._commit_batch(batch, holes)
            self._measure_lag(texts)
        self._storing_readers = {}
        for progress in batch:
            if progress.blocks or progress.commands:
                self.changed_panes.publish(progress.pane)
        for text in texts.values():
            self._release_reader(text)

    async def _commit_batch(self, batch: list[EpochUpdate], gaps: list[Gap]) -> None:
        """Nothing is read on until this is stored: a full disk makes us late, it does not make us lose."""
        while True:
            try:
                while gaps:
                    await self._store.record_gap(gaps[0])
                    del gaps[0]
                stored = await self._store.commit(batch)
            except StorageError as error:
                if not self.storage_error:
                    log.error("text cannot be stored: %s", error)
                self.storage_error = f"text cannot be stored: {error}"
                for wish in self._flush_waiters:
                    _resolve_future(wish.done, None)
                await self._clock.sleep(_STORE_RETRY_DELAY_S)
            else:
                self.storage_error = ""
                for event in stored.events:
                    self.events.publish(event)
                return

    def _release_reader(self, reader: EpochReader) -> None:
        """An epoch whose last byte is stored is let go."""
        epoch, pane = reader.epoch.id, reader.epoch.pane
        if epoch in self._readers:
            return
        if self.current_readers.get(pane) is reader:
            del self.current_readers[pane]
            self.rate_meters.pop(pane, None)
        future = self._finish_futures.pop(epoch, None)
        if future is not None:
            _resolve_future(future, reader.has_end_mark)

    def _measure_lag(self, readers: dict[EpochId, EpochReader]) -> None:
        now = self._clock.now()
        lags = [max(0.0, (now - text.last_byte_at) / NS) for text in readers.values()]
        self.max_lag_s = max(lags)
        self.average_lag_s = sum(lags) / len(lags)


def _resolve_future(future: asyncio.Future[T], answer: T) -> None:
    """Unless who waited has left."""
    if not future.done():
        future.set_result(answer)

"""Reads the epochs that grew, a slice each in turn, and stores what they said in small batches."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol, TypeVar

from msgspec import Struct

from termvisor.bus import Bus
from termvisor.capture.output_rate import Meter
from termvisor.capture.sampling_schedule import Stir
from termvisor.clock import NS, Clock
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.mark import Mark
from termvisor.model.terminal.output import NOTHING_BEGUN, Begun, Epoch, Gap
from termvisor.pipeline.epoch_reader import EpochText, first_carry
from termvisor.pipeline.json_lines import Printed
from termvisor.pipeline.rule_match import Spot
from termvisor.pipeline.rule_matcher import Spotter
from termvisor.redaction import Memory
from termvisor.store import Progress, Stored

_SLICE = 1 << 18
_UNSTORED_BYTES = 1 << 21
_LINE_BYTES = 64
"""What a line takes in memory beside its text: many short ones are stored as early as few long ones."""
_TURN_FOR = 0.05
"""Seconds of one epoch's turn: bytes made to be hard to read hold up no other pane."""
_AT_ONCE_FOR = 0.002
"""Seconds of reading before others have a turn: one after every small slice would cost more than the slice."""
_STORE_AGAIN_FOR = 2.0
_COALESCE_FOR = 0.015

T = TypeVar("T")
log = logger("pipeline")


class OutputStore(Protocol):
    async def commit(self, batch: list[Progress]) -> Stored: ...

    async def record_gap(self, gap: Gap) -> Gap: ...


class Wish(Struct):
    """Somebody waits until each of these logs is stored up to here."""

    sizes: dict[EpochId, int]
    is_met: asyncio.Future[None]


class Pipeline:
    """Reads the epochs that grew, and stores what they said in small batches."""

    def __init__(self, store: OutputStore, *, raw_dir: str, clock: Clock, flush_for: float, nonce: str | None = None):
        self._store, self._raw_dir, self._clock, self.nonce = store, raw_dir, clock, nonce
        self._flush_for = flush_for
        self._texts: dict[EpochId, EpochText] = {}
        self._dirty: set[EpochId] = set()
        self._unstored: dict[EpochId, EpochText] = {}
        self._unstored_bytes = 0
        self._has_more = False
        self._flush_at: float | None = None
        self._finishing: dict[EpochId, asyncio.Future[bool]] = {}
        self._settling: list[Wish] = []
        self._storing: dict[EpochId, EpochText] = {}
        self._wake, self._is_awaited = asyncio.Event(), asyncio.Event()
        self.news: Bus[PaneId] = Bus()
        self.events: Bus[Event] = Bus()
        """Events of the stream, stored together with the offset they were read up to: each exactly once."""
        self.spotter = Spotter(clock.now)
        """What looks for rules in the text; without any until it is given some."""
        self.stirred: Callable[[Stir], None] = lambda stir: None
        """Told of every pane that paints on its screen."""
        self.spoke: Callable[[Epoch, list[tuple[int, Mark]]], None] = lambda epoch, marks: None
        """Told of the marks by which programs say how they are doing, with their times."""
        self.printed: Callable[[Epoch, list[Printed]], None] = lambda epoch, lines: None
        """Told of lines that may be meant for programs."""
        self.meters: dict[PaneId, Meter] = {}
        self.current: dict[PaneId, EpochText] = {}
        self.lag_max = self.lag_average = 0.0
        self.bytes_heard = 0
        self.trouble = ""
        """What keeps text from being stored right now, for a person to read."""

    def flush_every(self, seconds: float) -> None:
        """How long settled lines may wait to be stored together, from now on."""
        self._flush_for = seconds

    def folder(self, epoch: Epoch) -> str:
        return f"{self._raw_dir}/{epoch.pane}/{epoch.id}"

    def open(self, epoch: Epoch) -> EpochText:
        """Begin with a new epoch, or go on with one where its text was last stored."""
        if epoch.id in self._texts:
            return self._texts[epoch.id]
        text = EpochText(epoch, self.folder(epoch), self.nonce, self.spotter)
        self._texts[epoch.id] = text
        self.current[epoch.pane] = text
        self.grew(epoch.id)
        self._stir(text)
        return text

    def secrets_of(self, pane: PaneId) -> Memory:
        """What a pane showed of late that must not be shown again, not even in pieces."""
        text = self.current.get(pane)
        return text.look_back() if text else Memory()

    def reconsider(self, pane: PaneId, spots: Iterable[Spot] = ()) -> None:
        """An agent was recognised in a pane: what was said there before may be its own, and is stored as such."""
        text = self.current.get(pane)
        if text is not None and text.reconsider(spots):
            self._unstored[text.epoch.id] = text
            self._flush_at = self._clock.monotonic() if self._flush_at is None else self._flush_at
            self._wake.set()

    def resized(self, pane: PaneId, width: int) -> None:
        """A pane has so many columns from now on."""
        if text := self.current.get(pane):
            text.resize(width)

    def first_carry(self, *, is_alternate: bool, at: int = 0, width: int = 0, begun: Begun = NOTHING_BEGUN) -> bytes:
        return first_carry(is_alternate=is_alternate, at=at, width=width, begun=begun)

    def grew(self, epoch: EpochId, size: int = 0) -> None:
        """There are more bytes; up to ``size``, where the teller knows."""
        if text := self._texts.get(epoch):
            text.told_size = max(text.told_size, size)
            self._dirty.add(epoch)
            self._wake.set()

    def read_now(self, pane: PaneId) -> None:
        """What stands in the log of this pane and was not read: a program that ended has said all by now."""
        text = self.current.get(pane)
        if text is not None and text.epoch.id in self._texts and text.final_size is None:
            self._step(text.epoch.id)
            self._dirty.add(text.epoch.id)
            self._wake.set()

    async def finish(self, epoch: EpochId, size: int) -> bool:
        """Every byte of a closed epoch becomes stored text; whether its program said that this is the end."""
        text = self._texts.get(epoch)
        if text is None:
            return False
        text.final_size = size
        future = self._finishing.setdefault(epoch, asyncio.get_running_loop().create_future())
        self.grew(epoch, size)
        return await future

    async def settle(self, pane: PaneId | None = None) -> None:
        """Wait until all that is in the raw logs at this moment, or in that of one pane, is stored, if it can be."""
        if self.trouble:
            return
        sizes = {epoch: text.reader.size() for epoch, text in self._texts.items() if pane in (None, text.epoch.pane)}
        for epoch, size in sizes.items():
            self.grew(epoch, size)
        await self._meet(sizes)

    async def stored(self, pane: PaneId) -> None:
        """Wait until everything that was read of this pane is stored."""
        if text := self.current.get(pane):
            await self._meet({text.epoch.id: text.read_to})

    async def _meet(self, sizes: dict[EpochId, int]) -> None:
        if all(self._is_stored(epoch, size) for epoch, size in sizes.items()):
            return
        wish = Wish(sizes, asyncio.get_running_loop().create_future())
        self._settling.append(wish)
        self._wake.set()
        self._is_awaited.set()
        await wish.is_met

    def _is_stored(self, epoch: EpochId, size: int) -> bool:
        is_read = epoch in self._texts and self._texts[epoch].read_to >= size
        return is_read and epoch not in self._unstored and epoch not in self._storing

    @property
    def backlog(self) -> int:
        """Bytes in the raw logs that are not text yet, as far as we were told."""
        return sum(max(0, text.reader.size() - text.read_to) for text in map(self._texts.get, self._dirty) if text)

    @property
    def queue_depth(self) -> int:
        return len(self._dirty)

    async def run(self) -> None:
        while True:
            await self._wait()
            await self._read()
            met = [wish for wish in self._settling if self._is_read(wish)]
            if met or self._is_due():
                await self._flush()
            for wish in met:
                self._settling.remove(wish)
                _resolve(wish.is_met, None)

    def _is_read(self, wish: Wish) -> bool:
        return not any(
            epoch in self._dirty and epoch in self._texts and self._texts[epoch].read_to < size
            for epoch, size in wish.sizes.items()
        )

    def _is_due(self) -> bool:
        """Whether what was read has waited long enough, or is the last of an epoch that somebody waits for."""
        if self._flush_at is None:
            return False
        return self._clock.monotonic() >= self._flush_at or not self._finishing.keys() <= self._texts.keys()

    async def _wait(self) -> None:
        if self._has_more:
            return
        due = None if self._flush_at is None else max(0.0, self._flush_at - self._clock.monotonic())
        try:
            async with asyncio.timeout(due):  # wait_for of Python 3.11 may swallow a cancellation
                await self._wake.wait()
        except TimeoutError:
            return
        if not self._settling:
            await self._coalesce()
        self._wake.clear()
        self._is_awaited.clear()

    async def _coalesce(self) -> None:
        """What comes in quick succession is read together, unless somebody waits for it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_COALESCE_FOR):
                await self._is_awaited.wait()

    async def _read(self) -> None:
        """One slice of each epoch that grew, so that a flood in one pane holds up no other."""
        self._has_more = False
        until = self._clock.monotonic() + _AT_ONCE_FOR
        for epoch in list(self._dirty):
            self._step(epoch)
            self._has_more = self._has_more or epoch in self._dirty
            if self._unstored_bytes > _UNSTORED_BYTES:
                await self._flush()
            if self._clock.monotonic() >= until:
                await asyncio.sleep(0)
                until = self._clock.monotonic() + _AT_ONCE_FOR
        await asyncio.sleep(0)

    def _step(self, epoch: EpochId) -> None:
        text = self._texts[epoch]
        until = self._clock.monotonic() + _TURN_FOR
        size = text.step(_SLICE, lambda: self._clock.monotonic() > until)
        if size == 0 or text.is_read or text.read_to == text.told_size:
            self._dirty.discard(epoch)
        if text.final_size is not None and (size == 0 or text.is_read):
            text.finish()
            del self._texts[epoch]
            self._dirty.discard(epoch)
        elif size == 0:
            return
        self._stir(text)
        if said := text.take_said():
            self.spoke(text.epoch, said)
        if printed := text.take_printed():
            self.printed(text.epoch, printed)
        self._count(text, size)

    def _stir(self, text: EpochText) -> None:
        if stir := text.stir():
            self.stirred(stir)

    def _count(self, text: EpochText, size: int) -> None:
        now = self._clock.monotonic()
        self._unstored[text.epoch.id] = text
        self._unstored_bytes += size + _LINE_BYTES * text.lines_read
        if self._flush_at is None:
            self._flush_at = now + self._flush_for
        self.bytes_heard += size
        if size:
            self.meters.setdefault(text.epoch.pane, Meter()).count(size, text.last_at, now)
            self.news.publish(text.epoch.pane)

    async def _flush(self) -> None:
        texts, self._unstored = self._unstored, {}
        self._storing = texts
        self._unstored_bytes, self._flush_at = 0, None
        holes = [hole for text in texts.values() for hole in text.take_holes()]
        batch = [progress for text in texts.values() if (progress := text.take())]
        if batch:
            await self._commit(batch, holes)
            self._measure(texts)
        self._storing = {}
        for progress in batch:
            if progress.blocks or progress.commands:
                self.news.publish(progress.pane)
        for text in texts.values():
            self._finished(text)

    async def _commit(self, batch: list[Progress], holes: list[Gap]) -> None:
        """Nothing is read on until this is stored: a full disk makes us late, it does not make us lose."""
        while True:
            try:
                while holes:
                    await self._store.record_gap(holes[0])
                    del holes[0]
                stored = await self._store.commit(batch)
            except StorageError as error:
                if not self.trouble:
                    log.error("text cannot be stored: %s", error)
                self.trouble = f"text cannot be stored: {error}"
                for wish in self._settling:
                    _resolve(wish.is_met, None)
                await self._clock.sleep(_STORE_AGAIN_FOR)
            else:
                self.trouble = ""
                for event in stored.events:
                    self.events.publish(event)
                return

    def _finished(self, text: EpochText) -> None:
        """An epoch whose last byte is stored is let go."""
        epoch, pane = text.epoch.id, text.epoch.pane
        if epoch in self._texts:
            return
        if self.current.get(pane) is text:
            del self.current[pane]
            self.meters.pop(pane, None)
        future = self._finishing.pop(epoch, None)
        if future is not None:
            _resolve(future, text.has_ended_well)

    def _measure(self, texts: dict[EpochId, EpochText]) -> None:
        now = self._clock.now()
        lags = [max(0.0, (now - text.last_at) / NS) for text in texts.values()]
        self.lag_max = max(lags)
        self.lag_average = sum(lags) / len(lags)


def _resolve(future: asyncio.Future[T], answer: T) -> None:
    """Unless who waited has left."""
    if not future.done():
        future.set_result(answer)

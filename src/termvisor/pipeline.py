"""THE MAP: start reading here. How bytes in the raw log become text that can be found.

    recorder ─► raw log ─► SegmentReader ─► TextStage ─► Redactor ─► blocks ─► Store ─► news
                 (the truth)     bytes       lines, marks   no secrets   rows    one transaction

What comes in: which epochs exist and that they grew. What goes out: committed blocks and marks, then the news of them.
The text of an epoch and the offset it was read up to are stored in one transaction, so a killed daemon reads again from
exactly there: nothing is lost and nothing is stored twice.
"""

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.clock import NS, Clock
from termvisor.errors import StorageError
from termvisor.ingest.meter import Meter
from termvisor.log import logger
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.mark import Mark
from termvisor.model.output import Block, Delta, Epoch, Gap
from termvisor.model.pane import Activity
from termvisor.recorder.format import SegmentReader
from termvisor.redact import Redactor, redact
from termvisor.store import Progress
from termvisor.stream.activity import Following, follow
from termvisor.stream.blocks import blocks
from termvisor.stream.text import Derived, TextStage, carry_for

_SLICE = 1 << 18
_UNSTORED_BYTES = 1 << 21
_TURN_FOR = 0.05
"""Seconds of one epoch's turn: bytes made to be hard to read hold up no other pane."""
_STORE_AGAIN_FOR = 2.0
_COALESCE_FOR = 0.015
_NOT_STORED = frozenset({"title", "bell", "sync_on", "sync_off", "paste_on", "paste_off", "progress"})

T = TypeVar("T")
log = logger("pipeline")


class Carry(msgspec.Struct, frozen=True, array_like=True):
    """What must be known to go on at the committed offset. Holds no text of the pane but the redacted command line."""

    text: bytes = b""
    redaction: bytes = b""
    following: Following = Following()
    end_mark: int = -1
    """Where the program last said that this is the end."""
    width: int = 0
    """Columns of the pane when it was last looked at."""


class EpochText:
    """One epoch on its way from raw bytes to rows."""

    def __init__(self, epoch: Epoch, folder: str, nonce: str | None):
        carry = msgspec.msgpack.decode(epoch.carry, type=Carry) if epoch.carry else Carry()
        self.epoch, self.reader = epoch, SegmentReader(folder)
        self.read_to = self.stored_to = epoch.committed
        self.final_size: int | None = epoch.size
        self.told_size = 0
        """How long the log is, as far as we were told; reading up to there needs no look at the folder."""
        self.last_at = epoch.opened_at
        self.following = carry.following
        self._holes: list[Gap] = []
        self._end_mark = carry.end_mark
        self._nonce = nonce
        self._stage = TextStage(epoch.committed, carry.text)
        self._stage.width = carry.width
        self._redactor = Redactor(state=carry.redaction)
        self._blocks: list[Block] = []
        self._marks: list[tuple[int, Mark]] = []
        self._is_changed = False

    @property
    def pending(self) -> str:
        return redact(self._stage.pending)

    @property
    def is_read(self) -> bool:
        """Whether the epoch is closed and every byte of it was read."""
        return self.final_size is not None and self.read_to >= self.final_size

    @property
    def has_ended_well(self) -> bool:
        """Whether the program's sign of its end is the last that came."""
        return self._end_mark == self.read_to

    def step(self, limit: int, is_over: Callable[[], bool] = lambda: False) -> int:
        """Read on until the limit, or until the turn is over; how many bytes there were."""
        began = self.read_to
        if self.told_size > began:
            limit = min(limit, self.told_size - began)
        for offset, data, at in self.reader.pieces(self.read_to, limit):
            if offset != self.read_to:
                self._leap(offset, at)
            self._keep(self._stage.feed(Delta(self.epoch.id, offset, data, at)), at)
            self.read_to, self.last_at = offset + len(data), at
            if is_over():
                break
        return self.read_to - began

    def resize(self, width: int) -> None:
        self._stage.width = width

    def finish(self) -> None:
        self._keep(self._stage.finish(self.last_at), self.last_at)
        self.reader.close()

    def take(self) -> Progress | None:
        """What is to be stored since the last time."""
        if not self._is_changed:
            return None
        committed, text = self._stage.checkpoint()
        carry = msgspec.msgpack.encode(
            Carry(text, self._redactor.state, self.following, self._end_mark, self._stage.width)
        )
        progress = Progress(
            pane=self.epoch.pane,
            epoch=self.epoch.id,
            committed=committed,
            carry=carry,
            blocks=tuple(self._blocks),
            marks=tuple(self._marks),
        )
        self._blocks, self._marks, self._is_changed = [], [], False
        self.stored_to = committed
        return progress

    def take_holes(self) -> list[Gap]:
        holes, self._holes = self._holes, []
        return holes

    def _leap(self, offset: int, at: int) -> None:
        """Segments were deleted or cut: the text goes on behind the hole, and the hole is a gap."""
        self._keep(self._stage.finish(self.last_at), self.last_at)
        width = self._stage.width
        self._stage = TextStage(offset, carry_for(is_alternate=self._stage.is_alternate))
        self._stage.width = width
        epoch, detail = self.epoch.id, f"bytes {self.read_to} to {offset} are no longer in the raw log"
        gap = Gap(pane=self.epoch.pane, cause="log_truncated", start_at=self.last_at, end_at=at, detail=detail)
        self._holes.append(replace(gap, after=epoch, before=epoch))

    def _keep(self, derived: Derived, at: int) -> None:
        self._is_changed = True
        if derived.lines:
            texts = self._redactor.lines([line.text for line in derived.lines])
            self._blocks.extend(blocks(self.epoch.id, derived.lines, texts))
        for raw in derived.marks:
            mark = _clean(raw)
            if mark.kind == "end_of_program":
                self._end_mark = mark.offset
            self.following = follow(self.following, mark, at, self._nonce)
            if mark.kind not in _NOT_STORED:
                self._marks.append((at, mark))


def _clean(mark: Mark) -> Mark:
    if not mark.text and not mark.params:
        return mark
    params = {redact(key): redact(value) for key, value in mark.params.items() if key != "nonce"}
    nonce = {"nonce": mark.params["nonce"]} if "nonce" in mark.params else {}
    return replace(mark, text=redact(mark.text), params=params | nonce)


class OutputStore(Protocol):
    async def commit(self, batch: list[Progress]) -> dict[PaneId, int]: ...

    async def record_gap(self, gap: Gap) -> Gap: ...


class Wish(msgspec.Struct):
    """Somebody waits until each of these logs is stored up to here."""

    sizes: dict[EpochId, int]
    is_met: asyncio.Future[None]


class Pipeline:
    """Reads the epochs that grew, and stores what they said in small batches."""

    def __init__(self, store: OutputStore, *, raw_dir: str, clock: Clock, flush_for: float, nonce: str | None = None):
        self._store, self._raw_dir, self._clock, self._nonce = store, raw_dir, clock, nonce
        self._flush_for = flush_for
        self._texts: dict[EpochId, EpochText] = {}
        self._dirty: set[EpochId] = set()
        self._unstored: dict[EpochId, EpochText] = {}
        self._unstored_bytes = 0
        self._has_more = False
        self._flush_at: float | None = None
        self._finishing: dict[EpochId, asyncio.Future[bool]] = {}
        self._settling: list[Wish] = []
        self._wake = asyncio.Event()
        self.news: Bus[PaneId] = Bus()
        self.meters: dict[PaneId, Meter] = {}
        self.current: dict[PaneId, EpochText] = {}
        self.lag_max = self.lag_average = 0.0
        self.bytes_heard = 0
        self.trouble = ""
        """What keeps text from being stored right now, for a person to read."""

    def folder(self, epoch: Epoch) -> str:
        return f"{self._raw_dir}/{epoch.pane}/{epoch.id}"

    def open(self, epoch: Epoch) -> EpochText:
        """Begin with a new epoch, or go on with one where its text was last stored."""
        if epoch.id in self._texts:
            return self._texts[epoch.id]
        text = EpochText(epoch, self.folder(epoch), self._nonce)
        self._texts[epoch.id] = text
        self.current[epoch.pane] = text
        self.grew(epoch.id)
        return text

    def resized(self, pane: PaneId, width: int) -> None:
        """A pane has so many columns from now on."""
        if text := self.current.get(pane):
            text.resize(width)

    def first_carry(self, *, is_alternate: bool, at: int = 0, width: int = 0) -> bytes:
        """How an epoch begins whose pane is so wide and shows the alternate screen, or does not; never empty."""
        known = Following()
        if is_alternate:
            known = follow(known, Mark(kind="alt_screen_on", offset=0), at, None)
        return msgspec.msgpack.encode(Carry(carry_for(is_alternate=is_alternate), following=known, width=width))

    def grew(self, epoch: EpochId, size: int = 0) -> None:
        """There are more bytes; up to ``size``, where the teller knows."""
        if text := self._texts.get(epoch):
            text.told_size = max(text.told_size, size)
            self._dirty.add(epoch)
            self._wake.set()

    async def finish(self, epoch: EpochId, size: int) -> bool:
        """Every byte of a closed epoch becomes stored text; whether its program said that this is the end."""
        text = self._texts.get(epoch)
        if text is None:
            return False
        text.final_size = size
        future = self._finishing.setdefault(epoch, asyncio.get_running_loop().create_future())
        self.grew(epoch)
        return await future

    async def settle(self) -> None:
        """Wait until everything that is in the raw logs at this moment is stored."""
        sizes = {epoch: text.reader.size() for epoch, text in self._texts.items()}
        for epoch, size in sizes.items():
            self.grew(epoch, size)
        wish = Wish(sizes, asyncio.get_running_loop().create_future())
        self._settling.append(wish)
        self._wake.set()
        await wish.is_met

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
            await self._clock.sleep(_COALESCE_FOR)
        self._wake.clear()

    async def _read(self) -> None:
        """One slice of each epoch that grew, so that a flood in one pane holds up no other."""
        self._has_more = False
        for epoch in list(self._dirty):
            self._step(epoch)
            self._has_more = self._has_more or epoch in self._dirty
            if self._unstored_bytes > _UNSTORED_BYTES:
                await self._flush()
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
        self._count(text, size)

    def _count(self, text: EpochText, size: int) -> None:
        now = self._clock.monotonic()
        self._unstored[text.epoch.id] = text
        self._unstored_bytes += size
        if self._flush_at is None:
            self._flush_at = now + self._flush_for
        self.bytes_heard += size
        if size:
            self.meters.setdefault(text.epoch.pane, Meter()).count(size, text.last_at, now)
            self.news.publish(text.epoch.pane)

    async def _flush(self) -> None:
        texts, self._unstored = self._unstored, {}
        self._unstored_bytes, self._flush_at = 0, None
        holes = [hole for text in texts.values() for hole in text.take_holes()]
        batch = [progress for text in texts.values() if (progress := text.take())]
        if batch:
            await self._commit(batch, holes)
            self._measure(texts)
        for progress in batch:
            if progress.blocks:
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
                await self._store.commit(batch)
            except StorageError as error:
                if not self.trouble:
                    log.error("text cannot be stored: %s", error)
                self.trouble = f"text cannot be stored: {error}"
                await self._clock.sleep(_STORE_AGAIN_FOR)
            else:
                self.trouble = ""
                return

    def _finished(self, text: EpochText) -> None:
        """An epoch whose last byte is stored is let go."""
        epoch, pane = text.epoch.id, text.epoch.pane
        if epoch in self._texts:
            return
        if self.current.get(pane) is text:
            del self.current[pane]
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


def activity_of(text: EpochText | None) -> Activity:
    return Activity(kind="gap") if text is None else text.following.activity

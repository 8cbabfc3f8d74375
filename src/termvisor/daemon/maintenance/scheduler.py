"""Keeps raw log and database within their bounds, round after round: deletes, masks, packs, forgets, makes snapshots.

Invariant: one round at a time. What goes wrong is an alert, and is tried again in the next round.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

from termvisor.clock import Clock
from termvisor.daemon.maintenance.progress import Tally
from termvisor.daemon.maintenance.retention import REST, Pruning
from termvisor.daemon.maintenance.sealer import Sealer
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.model.maintenance import Backup, Checked, Maintenance
from termvisor.settings import Places, Settings
from termvisor.store import Store

_LOOK_EVERY = 60.0
"""Seconds after which a changed interval of snapshots is noticed."""
log = logger("upkeep")


class Caretaker:
    """``settings`` is asked anew in every round."""

    def __init__(self, store: Store, places: Places, clock: Clock, settings: Callable[[], Settings]):
        self._store, self._places, self._clock, self._settings = store, places, clock, settings
        self._pruning = Pruning(store, places.raw_dir, clock, settings)
        self._sealer = Sealer(store, places, clock, settings)
        self._busy = asyncio.Lock()
        self._failed = ""
        self._snapshot_at = clock.monotonic()

    @property
    def trouble(self) -> str:
        """What could not be done in the last round, for a person to read."""
        return self._failed or self._sealer.trouble

    async def run(self) -> None:
        while True:
            await self._clock.sleep(self._settings().maintenance_interval)
            await self._attempt(self._whole_round)

    async def run_snapshots(self) -> None:
        while True:
            await self._clock.sleep(min(self._snapshot_every() or _LOOK_EVERY, _LOOK_EVERY))
            every = self._snapshot_every()
            if every and self._clock.monotonic() - self._snapshot_at >= every:
                await self._attempt(self.snapshot)

    async def leave(self) -> None:
        """The daemon ends; the last snapshot is made."""
        if self._settings().snapshot_interval:
            await self._attempt(self.snapshot)

    async def round(self) -> AsyncIterator[Maintenance]:
        """One round of everything; what was done is noted."""
        async with self._busy:
            for work in (self._pruning.raw, self._pruning.rows, self._sealer.seal, self._pruning.panes):
                async for step in work():
                    if step.is_done and (step.rows or step.bytes):
                        await self._store.keeping.note(step)
                    yield step

    async def foretell(self) -> AsyncIterator[Maintenance]:
        """What a round would do now."""
        async for step in self._pruning.foretell():
            yield step
        yield await self._sealer.waiting()

    async def vacuum(self) -> AsyncIterator[Maintenance]:
        """Make the indexes small, then give free pages back to the disk."""
        async with self._busy:
            tally = Tally("vacuum", self._clock)
            before = (await self._store.sizes())[0]
            async for table, steps in self._store.keeping.merge_indexes():
                yield tally.step(f"index of {table}s: {steps} steps")
                await self._clock.sleep(REST)
            async for pages, left in self._store.keeping.give_back():
                tally.rows = pages
                yield tally.step(f"{pages} pages given back, {left} to go")
                await self._clock.sleep(REST)
            await self._store.checkpoint()
            tally.bytes = max(0, before - (await self._store.sizes())[0])
            yield await self._noted(tally.done(f"{tally.rows} pages given back"))

    async def reindex(self) -> AsyncIterator[Maintenance]:
        """Make the search indexes anew from the text that is stored."""
        async with self._busy:
            tally = Tally("reindex", self._clock)
            async for table in self._store.keeping.rebuild_indexes():
                tally.rows += 1
                yield tally.step(f"index of {table}s")
            yield await self._noted(tally.done(f"{tally.rows} indexes made anew"))

    async def backup(self, path: str) -> Backup:
        tally = Tally("backup", self._clock)
        taken_at = self._clock.now()
        tally.bytes, contents = await self._store.keeping.copy(path)
        await self._noted(tally.done(path))
        return Backup(path=path, bytes=tally.bytes, taken_at=taken_at, contents=contents)

    async def snapshot(self) -> None:
        tally = Tally("snapshot", self._clock)
        self._snapshot_at = self._clock.monotonic()
        tally.bytes = await self._store.keeping.snapshot(self._places.snapshot_file)
        await self._noted(tally.done(self._places.snapshot_file))

    async def check(self, *, thorough: bool) -> Checked:
        tally = Tally("check", self._clock)
        found = await self._store.check(thorough=thorough)
        run = await self._noted(tally.done(found))
        wrong = "" if found == "ok" else found
        return Checked(path=self._places.database, is_thorough=thorough, wrong=wrong, duration=run.duration)

    def _snapshot_every(self) -> float:
        return self._settings().snapshot_interval * 60

    async def _whole_round(self) -> None:
        async for _ in self.round():
            pass

    async def _attempt(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (StorageError, OSError) as error:
            if not self._failed:
                log.error("upkeep could not be done: %s", error)
            self._failed = f"upkeep could not be done: {error}"
        else:
            self._failed = ""

    async def _noted(self, run: Maintenance) -> Maintenance:
        await self._store.keeping.note(run)
        return run

"""Deletes what the settings no longer keep: by age, then what is beyond each pane's share, then the oldest while raw
log and database are too large together. Raw bytes go before text, since text is what search finds.

Invariants: every step is small, and between two steps others have their turn. The key of a send is known for as long as
text is kept and never for less than a day, however full the disk is: until then the same send is not done twice.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from termvisor.capture import raw_log
from termvisor.capture.raw_log import StoredSegment
from termvisor.capture.sealing import remove
from termvisor.clock import NS, Clock
from termvisor.daemon.maintenance.progress import Tally, listed
from termvisor.daemon.maintenance.segment_inventory import Survey, progress, surveyed
from termvisor.model.maintenance import Maintenance
from termvisor.ops.render.text import counted
from termvisor.settings import Settings
from termvisor.store import Store
from termvisor.store.maintenance.retention import DEEDS, HISTORY, SIGNALS, Aged

REST = 0.02
_DAY = 86_400 * NS
_DEEDS_DAYS = 1.0
"""Sends, questions, permits and reservations are kept at least so long after their end."""
_STEPS = 20
"""In how many steps the age of the oldest text is shortened, while the database alone is too large."""


class Pruning:
    """``settings`` is asked anew each time."""

    def __init__(self, store: Store, raw_dir: str, clock: Clock, settings: Callable[[], Settings]):
        self._store, self._raw_dir, self._clock, self._settings = store, raw_dir, clock, settings

    async def foretell(self) -> AsyncIterator[Maintenance]:
        """What would be deleted now."""
        doomed = await self._doomed(await surveyed(self._store, self._raw_dir))
        raw = Tally("delete_raw", self._clock)
        raw.rows, raw.bytes = len(doomed), sum(segment.room for segment in doomed)
        yield raw.done(_spread(doomed))
        rows = Tally("delete_rows", self._clock)
        for before, tables in self._aged():
            for table, number in (await self._store.keeping.count_older(before, tables)).items():
                rows.add(table, number)
        yield rows.done(listed(rows.counts))

    async def raw(self) -> AsyncIterator[Maintenance]:
        tally = Tally("delete_raw", self._clock)
        doomed = await self._doomed(await surveyed(self._store, self._raw_dir))
        for segment in doomed:
            tally.bytes += await asyncio.to_thread(remove, segment.folder, segment.start)
            tally.rows += 1
            yield tally.step(f"{tally.rows} of {len(doomed)} segments")
        yield tally.done(_spread(doomed))

    async def rows(self) -> AsyncIterator[Maintenance]:
        tally = Tally("delete_rows", self._clock)
        for before, tables in self._aged():
            async for step in self._older(tally, before, tables):
                yield step
        before = self._before()
        while before := await self._too_much_before(before):
            async for step in self._older(tally, before, HISTORY):
                yield step
            async for _ in self._store.keeping.merge_indexes():
                await self._clock.sleep(REST)
        async for pages, left in self._store.keeping.give_back():
            yield tally.step(f"{pages} pages given back, {left} to go")
            await self._clock.sleep(REST)
        yield tally.done(listed(tally.counts))

    async def panes(self) -> AsyncIterator[Maintenance]:
        """Forget panes that are gone and of which nothing is left, and remove empty folders."""
        tally = Tally("forget_panes", self._clock)
        folders = raw_log.folders(self._raw_dir)
        raw_log.remove_empty(folders, await progress(self._store))
        on_disk = raw_log.panes_on_disk(self._raw_dir)
        while panes := await self._store.keeping.forget_panes(self._before(), on_disk):
            raw_log.remove_pane_folders(self._raw_dir, panes)
            tally.rows += len(panes)
            yield tally.step()
        yield tally.done()

    async def _doomed(self, found: Survey) -> list[StoredSegment]:
        settings, over = self._settings(), found.over()
        days = settings.retention if settings.raw_retention is None else settings.raw_retention
        doomed = dict.fromkeys(raw_log.older_than(over, self._days_ago(days)))
        if settings.pane_bytes:
            beyond = raw_log.beyond_pane(found.segments, settings.pane_bytes)
            doomed |= dict.fromkeys(segment for segment in over if segment in beyond)
        if settings.total_bytes:
            kept = [segment for segment in found.segments if segment not in doomed]
            used = await self._store.keeping.used() + sum(segment.room for segment in kept)
            may_go = [segment for segment in over if segment not in doomed]
            doomed |= dict.fromkeys(raw_log.oldest(may_go, used - settings.total_bytes))
        return list(doomed)

    async def _older(self, tally: Tally, before: int, tables: Sequence[Aged]) -> AsyncIterator[Maintenance]:
        async for table, deleted in self._store.keeping.delete_older(before, tables):
            tally.add(table, deleted)
            yield tally.step(listed(tally.counts))
            await self._clock.sleep(REST if deleted else 0)

    async def _too_much_before(self, before: int) -> int:
        """The instant before which text must go too, because the database alone takes more than all may; else 0."""
        limit = self._settings().total_bytes
        oldest = await self._store.keeping.oldest_text_at() if limit else None
        if oldest is None or await self._store.keeping.used() <= limit:
            return 0
        now, reached = self._clock.now(), max(before, oldest)
        return min(reached + max(NS, (now - oldest) // _STEPS), now) if reached < now else 0

    def _aged(self) -> tuple[tuple[int, Sequence[Aged]], ...]:
        """What is too old by the settings: in each table what ended before its instant."""
        settings = self._settings()
        days, signals = settings.retention, settings.agent_retention
        return (
            (self._days_ago(days), HISTORY),
            (self._days_ago(days and max(days, _DEEDS_DAYS)), DEEDS),
            (self._days_ago(signals), SIGNALS),
        )

    def _before(self) -> int:
        return self._days_ago(self._settings().retention)

    def _days_ago(self, days: float) -> int:
        """What ended before this instant is too old; 0 where everything is kept."""
        return self._clock.now() - int(days * _DAY) if days else 0


def _spread(segments: list[StoredSegment]) -> str:
    panes = {segment.pane for segment in segments}
    return f"{counted(len(segments), 'segment')} of {counted(len(panes), 'pane')}" if panes else ""

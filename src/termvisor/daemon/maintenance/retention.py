"""Deletes what the settings no longer keep: by age, then what is beyond each pane's share, then the oldest while raw
log and database are too large together. Raw bytes go before text, since text is what search finds.

Invariants: every step is small, and between two steps others have their turn. The key of a send is known for as long as
text is kept and never for less than a day, however full the disk is: until then the same send is not done twice.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from termvisor.capture import raw_log
from termvisor.capture.raw_log import StoredSegment
from termvisor.capture.sealing import delete_segment
from termvisor.clock import NS, Clock
from termvisor.daemon.maintenance.progress import MaintenanceProgress, format_counts
from termvisor.daemon.maintenance.segment_inventory import SegmentInventory, load_epoch_progress, take_inventory
from termvisor.model.maintenance import MaintenanceRun
from termvisor.ops.render.text import pluralize
from termvisor.settings import Settings
from termvisor.store import Store
from termvisor.store.maintenance.retention import ACTION_TABLES, HISTORY_TABLES, SIGNAL_TABLES, RetainedTable

STEP_PAUSE_S = 0.02
_DAY_NS = 86_400 * NS
_MIN_ACTION_DAYS = 1.0
"""Sends, questions, permits and reservations are kept at least so long after their end."""
_MAX_SHRINK_STEPS = 20
"""In how many steps the age of the oldest text is shortened, while the database alone is too large."""


class RetentionPruner:
    """``settings`` is asked anew each time."""

    def __init__(self, store: Store, raw_dir: str, clock: Clock, settings: Callable[[], Settings]):
        self._store, self._raw_dir, self._clock, self._settings = store, raw_dir, clock, settings

    async def preview(self) -> AsyncIterator[MaintenanceRun]:
        """What would be deleted now."""
        doomed = await self._select_expired_segments(await take_inventory(self._store, self._raw_dir))
        raw = MaintenanceProgress("delete_raw", self._clock)
        raw.rows, raw.bytes = len(doomed), sum(segment.disk_bytes for segment in doomed)
        yield raw.build_result(_describe_segments(doomed))
        rows = MaintenanceProgress("delete_rows", self._clock)
        for before, tables in self._list_cutoffs():
            for table, number in (await self._store.maintenance.count_older_rows(before, tables)).items():
                rows.add_rows(table, number)
        yield rows.build_result(format_counts(rows.counts))

    async def delete_raw(self) -> AsyncIterator[MaintenanceRun]:
        tally = MaintenanceProgress("delete_raw", self._clock)
        doomed = await self._select_expired_segments(await take_inventory(self._store, self._raw_dir))
        for segment in doomed:
            tally.bytes += await asyncio.to_thread(delete_segment, segment.folder, segment.start)
            tally.rows += 1
            yield tally.build_step(f"{tally.rows} of {len(doomed)} segments")
        yield tally.build_result(_describe_segments(doomed))

    async def delete_rows(self) -> AsyncIterator[MaintenanceRun]:
        tally = MaintenanceProgress("delete_rows", self._clock)
        for before, tables in self._list_cutoffs():
            async for step in self._delete_older(tally, before, tables):
                yield step
        before = self._get_text_cutoff()
        while before := await self._find_size_cutoff(before):
            async for step in self._delete_older(tally, before, HISTORY_TABLES):
                yield step
            async for _ in self._store.maintenance.merge_indexes():
                await self._clock.sleep(STEP_PAUSE_S)
        async for pages, left in self._store.maintenance.release_free_pages():
            yield tally.build_step(f"{pages} pages given back, {left} to go")
            await self._clock.sleep(STEP_PAUSE_S)
        yield tally.build_result(format_counts(tally.counts))

    async def forget_panes(self) -> AsyncIterator[MaintenanceRun]:
        """Forget panes that are gone and of which nothing is left, and remove empty folders."""
        tally = MaintenanceProgress("forget_panes", self._clock)
        folders = raw_log.list_epoch_folders(self._raw_dir)
        raw_log.remove_empty_folders(folders, await load_epoch_progress(self._store))
        on_disk = raw_log.list_panes_on_disk(self._raw_dir)
        while panes := await self._store.maintenance.delete_empty_panes(self._get_text_cutoff(), on_disk):
            raw_log.remove_pane_folders(self._raw_dir, panes)
            tally.rows += len(panes)
            yield tally.build_step()
        yield tally.build_result()

    async def _select_expired_segments(self, inventory: SegmentInventory) -> list[StoredSegment]:
        settings, over = self._settings(), inventory.list_consumed()
        days = settings.retention if settings.raw_retention is None else settings.raw_retention
        doomed = dict.fromkeys(raw_log.select_older_than(over, self._compute_cutoff(days)))
        if settings.pane_bytes:
            beyond = raw_log.select_beyond_pane_limit(inventory.segments, settings.pane_bytes)
            doomed |= dict.fromkeys(segment for segment in over if segment in beyond)
        if settings.total_bytes:
            kept = [segment for segment in inventory.segments if segment not in doomed]
            used = await self._store.maintenance.count_used_bytes() + sum(segment.disk_bytes for segment in kept)
            may_go = [segment for segment in over if segment not in doomed]
            doomed |= dict.fromkeys(raw_log.select_oldest(may_go, used - settings.total_bytes))
        return list(doomed)

    async def _delete_older(
        self, progress: MaintenanceProgress, before: int, tables: Sequence[RetainedTable]
    ) -> AsyncIterator[MaintenanceRun]:
        async for table, deleted in self._store.maintenance.delete_older_rows(before, tables):
            progress.add_rows(table, deleted)
            yield progress.build_step(format_counts(progress.counts))
            await self._clock.sleep(STEP_PAUSE_S if deleted else 0)

    async def _find_size_cutoff(self, before: int) -> int:
        """The instant before which text must go too, because the database alone takes more than all may; else 0."""
        limit = self._settings().total_bytes
        oldest = await self._store.maintenance.find_oldest_text_time() if limit else None
        if oldest is None or await self._store.maintenance.count_used_bytes() <= limit:
            return 0
        now, reached = self._clock.now(), max(before, oldest)
        return min(reached + max(NS, (now - oldest) // _MAX_SHRINK_STEPS), now) if reached < now else 0

    def _list_cutoffs(self) -> tuple[tuple[int, Sequence[RetainedTable]], ...]:
        """What is too old by the settings: in each table what ended before its instant."""
        settings = self._settings()
        days, signals = settings.retention, settings.agent_retention
        return (
            (self._compute_cutoff(days), HISTORY_TABLES),
            (self._compute_cutoff(days and max(days, _MIN_ACTION_DAYS)), ACTION_TABLES),
            (self._compute_cutoff(signals), SIGNAL_TABLES),
        )

    def _get_text_cutoff(self) -> int:
        return self._compute_cutoff(self._settings().retention)

    def _compute_cutoff(self, days: float) -> int:
        """What ended before this instant is too old; 0 where everything is kept."""
        return self._clock.now() - int(days * _DAY_NS) if days else 0


def _describe_segments(segments: list[StoredSegment]) -> str:
    panes = {segment.pane for segment in segments}
    return f"{pluralize(len(segments), 'segment')} of {pluralize(len(panes), 'pane')}" if panes else ""

"""Delete expired data: by age, then beyond each pane's limit, then the oldest while the total size is too large.

Raw bytes are deleted before text, because search needs the text. Invariants: work is done in small steps with pauses,
so that other writers can run in between; the idempotency key of a send is kept as long as text and for at least a day,
so that the same send is not executed twice; a system clock that jumps ahead deletes nothing (see `RetentionClock`).
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence

from termvisor.capture import raw_log
from termvisor.capture.raw_log import StoredSegment
from termvisor.capture.sealing import delete_segment
from termvisor.clock import NS, Clock
from termvisor.daemon.maintenance.progress import MaintenanceProgress, format_counts
from termvisor.daemon.maintenance.raw_segments import SegmentInventory, load_epoch_progress, take_inventory
from termvisor.model.maintenance import MaintenanceRun
from termvisor.ops.render.text import pluralize
from termvisor.settings import Settings
from termvisor.store import Store
from termvisor.store.maintenance.retention import ACTION_TABLES, HISTORY_TABLES, SIGNAL_TABLES, RetainedTable

STEP_PAUSE_S = 0.02
"""Pause between two steps, to let other writers use the database."""
_DAY_NS = 86_400 * NS
# Keep sends, approvals, permits and reservations for at least this long after they end.
_MIN_ACTION_DAYS = 1.0
# Move the cutoff for text towards now in this many steps while the database is too large.
_MAX_SHRINK_STEPS = 20


class RetentionPruner:
    """Deletes expired data. ``settings`` is called each time, so a reload takes effect immediately.

    ``get_now`` returns the time that decides what has expired.
    """

    def __init__(
        self, store: Store, raw_dir: str, clock: Clock, settings: Callable[[], Settings], get_now: Callable[[], int]
    ):
        self._store, self._raw_dir, self._clock, self._settings = store, raw_dir, clock, settings
        self._get_now = get_now

    async def preview(self) -> AsyncIterator[MaintenanceRun]:
        """Report what would be deleted if a round ran now."""
        expired = await self._select_expired_segments(await take_inventory(self._store, self._raw_dir))
        raw = MaintenanceProgress("delete_raw", self._clock)
        raw.rows, raw.bytes = len(expired), sum(segment.disk_bytes for segment in expired)
        yield raw.build_result(_describe_segments(expired))
        rows = MaintenanceProgress("delete_rows", self._clock)
        for before, tables in self._list_cutoffs():
            for table, number in (await self._store.maintenance.count_older_rows(before, tables)).items():
                rows.add_rows(table, number)
        yield rows.build_result(format_counts(rows.counts))

    async def delete_raw(self) -> AsyncIterator[MaintenanceRun]:
        progress = MaintenanceProgress("delete_raw", self._clock)
        expired = await self._select_expired_segments(await take_inventory(self._store, self._raw_dir))
        for segment in expired:
            progress.bytes += await asyncio.to_thread(delete_segment, segment.folder, segment.start)
            progress.rows += 1
            yield progress.build_step(f"{progress.rows} of {len(expired)} segments")
        yield progress.build_result(_describe_segments(expired))

    async def delete_rows(self) -> AsyncIterator[MaintenanceRun]:
        progress = MaintenanceProgress("delete_rows", self._clock)
        for before, tables in self._list_cutoffs():
            async for step in self._delete_older(progress, before, tables):
                yield step
        before = self._get_text_cutoff()
        while before := await self._find_size_cutoff(before):
            async for step in self._delete_older(progress, before, HISTORY_TABLES):
                yield step
            # Deleted entries free space in the index only after its segments are merged.
            async for _ in self._store.maintenance.merge_indexes():
                await self._clock.sleep(STEP_PAUSE_S)
        async for pages, left in self._store.maintenance.release_free_pages():
            yield progress.build_step(f"{pages} pages released, {left} left")
            await self._clock.sleep(STEP_PAUSE_S)
        yield progress.build_result(format_counts(progress.counts))

    async def forget_panes(self) -> AsyncIterator[MaintenanceRun]:
        """Delete closed panes that have no data left, and remove empty folders."""
        progress = MaintenanceProgress("forget_panes", self._clock)
        # Listed before the epochs are read: the epoch of a listed folder that has no row then never gets one.
        folders = raw_log.list_epoch_folders(self._raw_dir)
        raw_log.remove_empty_folders(folders, await load_epoch_progress(self._store))
        on_disk = raw_log.list_panes_on_disk(self._raw_dir)
        while panes := await self._store.maintenance.delete_empty_panes(self._get_text_cutoff(), on_disk):
            raw_log.remove_pane_folders(self._raw_dir, panes)
            progress.rows += len(panes)
            yield progress.build_step()
        yield progress.build_result()

    async def _select_expired_segments(self, inventory: SegmentInventory) -> list[StoredSegment]:
        """Select the segments to delete, only among those whose bytes are all stored as text."""
        settings, consumed = self._settings(), inventory.list_consumed()
        days = settings.retention if settings.raw_retention is None else settings.raw_retention
        expired = dict.fromkeys(raw_log.select_older_than(consumed, self._compute_cutoff(days)))
        if settings.pane_bytes:
            beyond_limit = raw_log.select_beyond_pane_limit(inventory.segments, settings.pane_bytes)
            expired |= dict.fromkeys(segment for segment in consumed if segment in beyond_limit)
        if settings.total_bytes:
            remaining = [segment for segment in inventory.segments if segment not in expired]
            used = await self._store.maintenance.count_used_bytes() + sum(item.disk_bytes for item in remaining)
            deletable = [segment for segment in consumed if segment not in expired]
            expired |= dict.fromkeys(raw_log.select_oldest(deletable, used - settings.total_bytes))
        return list(expired)

    async def _delete_older(
        self, progress: MaintenanceProgress, before: int, tables: Sequence[RetainedTable]
    ) -> AsyncIterator[MaintenanceRun]:
        async for table, deleted in self._store.maintenance.delete_older_rows(before, tables):
            progress.add_rows(table, deleted)
            yield progress.build_step(format_counts(progress.counts))
            await self._clock.sleep(STEP_PAUSE_S if deleted else 0)

    async def _find_size_cutoff(self, before: int) -> int:
        """Return the next cutoff for text if the database alone exceeds the total limit, else 0."""
        limit = self._settings().total_bytes
        oldest = await self._store.maintenance.find_oldest_text_time() if limit else None
        if oldest is None or await self._store.maintenance.count_used_bytes() <= limit:
            return 0
        now, reached = self._get_now(), max(before, oldest)
        return min(reached + max(NS, (now - oldest) // _MAX_SHRINK_STEPS), now) if reached < now else 0

    def _list_cutoffs(self) -> tuple[tuple[int, Sequence[RetainedTable]], ...]:
        """Return the cutoff for each group of tables; rows that ended before it are deleted."""
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
        """Return the time before which data is expired; 0 if ``days`` is 0, which keeps everything."""
        return self._get_now() - int(days * _DAY_NS) if days else 0


def _describe_segments(segments: list[StoredSegment]) -> str:
    panes = {segment.pane for segment in segments}
    return f"{pluralize(len(segments), 'segment')} of {pluralize(len(panes), 'pane')}" if panes else ""

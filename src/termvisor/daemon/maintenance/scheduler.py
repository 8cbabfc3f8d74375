"""Schedule maintenance rounds (retention, sealing), snapshots and memory trimming; run vacuum, reindex, check, backup.

Invariant: one round at a time. An error becomes an alert in `visor health` and is retried in the next round.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

from termvisor.clock import Clock
from termvisor.daemon.maintenance.progress import MaintenanceProgress
from termvisor.daemon.maintenance.raw_segments import SegmentSealer
from termvisor.daemon.maintenance.retention import STEP_PAUSE_S, RetentionPruner
from termvisor.daemon.maintenance.retention_clock import RetentionClock
from termvisor.errors import StorageError
from termvisor.log import get_logger
from termvisor.model.maintenance import DatabaseBackup, IntegrityReport, MaintenanceRun
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.system.malloc import release_free_memory
from termvisor.system.shell_state import remove_stale_states

# A changed snapshot interval takes effect within this time.
_SNAPSHOT_POLL_INTERVAL_S = 60.0
_TRIM_INTERVAL_S = 10.0
log = get_logger("maintenance")


class MaintenanceScheduler:
    """Runs maintenance periodically. ``settings`` is called in every round, so a reload takes effect."""

    def __init__(
        self, store: Store, paths: Paths, clock: Clock, settings: Callable[[], Settings], retention: RetentionClock
    ):
        self._store, self._paths, self._clock, self._settings = store, paths, clock, settings
        self._retention_clock = retention
        self._pruner = RetentionPruner(store, paths.raw_dir, clock, settings, retention.now)
        self._sealer = SegmentSealer(store, paths, clock, settings)
        self._round_lock = asyncio.Lock()
        self._last_error = ""
        self._snapshot_at = clock.monotonic()

    @property
    def problem(self) -> str:
        """The error of the last round as text for users; empty if there was none."""
        return self._last_error or self._sealer.problem or self._sealer.damage

    async def run(self) -> None:
        await self._run_logged(self._retention_clock.save)
        await self._run_logged(self._upgrade_indexes)
        while True:
            remove_stale_states(self._paths.shell_state_dir)
            await self._clock.sleep(self._settings().maintenance_interval)
            await self._run_logged(self._run_whole_round)

    async def run_snapshots(self) -> None:
        while True:
            await self._clock.sleep(
                min(self._get_snapshot_interval() or _SNAPSHOT_POLL_INTERVAL_S, _SNAPSHOT_POLL_INTERVAL_S)
            )
            interval = self._get_snapshot_interval()
            if interval and self._clock.monotonic() - self._snapshot_at >= interval:
                await self._run_logged(self.make_snapshot)

    async def make_final_snapshot(self) -> None:
        """Write a snapshot when the daemon stops, unless snapshots are off."""
        if self._settings().snapshot_interval:
            await self._run_logged(self.make_snapshot)

    async def run_round(self) -> AsyncIterator[MaintenanceRun]:
        """Run one round of all steps and record those that changed something."""
        async with self._round_lock:
            await self._retention_clock.save()
            for work in (
                self._pruner.delete_raw,
                self._pruner.delete_rows,
                self._sealer.seal_segments,
                self._pruner.forget_panes,
            ):
                async for step in work():
                    if step.is_done and (step.rows or step.bytes):
                        await self._store.maintenance.record_run(step)
                    yield step

    async def preview_round(self) -> AsyncIterator[MaintenanceRun]:
        """Report what a round would do if it ran now."""
        async for step in self._pruner.preview():
            yield step
        yield await self._sealer.preview()

    async def vacuum(self) -> AsyncIterator[MaintenanceRun]:
        """Merge the search indexes, then return free pages to the file system."""
        async with self._round_lock:
            progress = MaintenanceProgress("vacuum", self._clock)
            before = (await self._store.measure_sizes())[0]
            async for table, steps in self._store.maintenance.merge_indexes():
                yield progress.build_step(f"index of {table}s: {steps} steps")
                await self._clock.sleep(STEP_PAUSE_S)
            async for pages, left in self._store.maintenance.release_free_pages():
                progress.rows = pages
                yield progress.build_step(f"{pages} pages released, {left} left")
                await self._clock.sleep(STEP_PAUSE_S)
            await self._store.checkpoint()
            progress.bytes = max(0, before - (await self._store.measure_sizes())[0])
            yield await self._store_result(progress.build_result(f"{progress.rows} pages released"))

    async def reindex(self) -> AsyncIterator[MaintenanceRun]:
        """Rebuild the search indexes from the stored text."""
        async with self._round_lock:
            progress = MaintenanceProgress("reindex", self._clock)
            async for table in self._store.maintenance.rebuild_indexes():
                progress.rows += 1
                yield progress.build_step(f"index of {table}s")
            yield await self._store_result(progress.build_result(f"{progress.rows} indexes rebuilt"))

    async def _upgrade_indexes(self) -> None:
        """Index text again that an older version indexed in another form; does nothing in a current database."""
        async with self._round_lock:
            progress = MaintenanceProgress("reindex", self._clock)
            async for changed in self._store.maintenance.upgrade_indexes():
                progress.rows += changed
                if changed:
                    await self._clock.sleep(STEP_PAUSE_S)
            if progress.rows:
                await self._store_result(progress.build_result(f"{progress.rows} texts of an older version"))

    async def backup_database(self, path: str) -> DatabaseBackup:
        progress = MaintenanceProgress("backup", self._clock)
        taken_at = self._clock.now()
        progress.bytes, contents = await self._store.maintenance.write_backup(path)
        await self._store_result(progress.build_result(path))
        return DatabaseBackup(path=path, bytes=progress.bytes, taken_at=taken_at, contents=contents)

    async def make_snapshot(self) -> None:
        progress = MaintenanceProgress("snapshot", self._clock)
        # Set before writing, so that a failed snapshot is retried only after the interval.
        self._snapshot_at = self._clock.monotonic()
        progress.bytes = await self._store.maintenance.write_snapshot(self._paths.snapshot_file)
        await self._store_result(progress.build_result(self._paths.snapshot_file))

    async def check_database(self, *, thorough: bool) -> IntegrityReport:
        progress = MaintenanceProgress("check", self._clock)
        result = await self._store.check_integrity(thorough=thorough)
        run = await self._store_result(progress.build_result(result))
        wrong = "" if result == "ok" else result
        return IntegrityReport(path=self._paths.database, is_thorough=thorough, wrong=wrong, duration=run.duration)

    def _get_snapshot_interval(self) -> float:
        return self._settings().snapshot_interval * 60

    async def _run_whole_round(self) -> None:
        async for _ in self.run_round():
            pass

    async def _run_logged(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except (StorageError, OSError) as error:
            # Logged once, not in every round; the alert in `visor health` stays.
            if not self._last_error:
                log.error("maintenance failed: %s", error)
            self._last_error = f"maintenance failed: {error}"
        else:
            self._last_error = ""

    async def _store_result(self, result: MaintenanceRun) -> MaintenanceRun:
        await self._store.maintenance.record_run(result)
        return result


class MemoryTrimmer:
    """Returns unused memory of SQLite and the C library to the system while ``get_bytes_read`` grows.

    Without this, the process would stay at its peak size.
    """

    def __init__(self, store: Store, clock: Clock, get_bytes_read: Callable[[], int]):
        self._store, self._clock, self._get_bytes_read = store, clock, get_bytes_read

    async def run(self) -> None:
        trimmed_at = -1
        while True:
            await self._clock.sleep(_TRIM_INTERVAL_S)
            bytes_read = self._get_bytes_read()
            if bytes_read != trimmed_at:
                trimmed_at = bytes_read
                # Writers report storage errors.
                with suppress(StorageError):
                    await self._store.shrink_memory()
                release_free_memory(collect_garbage=True)

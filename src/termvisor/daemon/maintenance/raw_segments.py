"""Seal complete raw segments (mask secrets, compress) in a worker process, and list segments with their epochs.

The worker exits with the daemon. On an error, such as a full disk, the segment stays unchanged and is tried again in
the next round.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing

from msgspec import Struct

from termvisor.capture import raw_log
from termvisor.capture.sealing import SealResult, remove_leftovers
from termvisor.clock import Clock
from termvisor.daemon.maintenance.progress import MaintenanceProgress
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.maintenance import MaintenanceRun
from termvisor.ops.render.text import pluralize
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.system.worker import stream_worker

_MAX_NAMED_PANES = 8


class SegmentSealer:
    """Seals raw segments. ``settings`` is called each time, so a reload takes effect immediately."""

    def __init__(self, store: Store, paths: Paths, clock: Clock, settings: Callable[[], Settings]):
        self._store, self._paths, self._clock, self._settings = store, paths, clock, settings
        self.problem = ""
        """Why the last segment could not be sealed, as text for users."""
        self.damage = ""
        """Which panes lack bytes in the raw log, as text for users."""

    async def preview(self) -> MaintenanceRun:
        """Report what a round would seal if it ran now."""
        progress = MaintenanceProgress("seal", self._clock)
        sealable = await self._list_sealable()
        progress.rows, progress.bytes = len(sealable), sum(segment.disk_bytes for segment in sealable)
        return progress.build_result(pluralize(len(sealable), "segment") if sealable else "")

    async def seal_segments(self) -> AsyncIterator[MaintenanceRun]:
        progress, masked = MaintenanceProgress("seal", self._clock), 0
        self.problem = ""
        await asyncio.to_thread(_remove_temporary_files, self._paths.raw_dir)
        sealable = await self._list_sealable()
        async with aclosing(self._run_seal_worker(sealable)) as results:
            async for result in results:
                # The following segments would fail on the same full or read-only disk; the next round tries again.
                if result.error:
                    self.problem = f"raw segments cannot be sealed: {result.error}"
                    break
                masked += result.masked
                progress.bytes += result.freed
                progress.rows += 1
                yield progress.build_step(f"{progress.rows} of {len(sealable)} segments")
        detail = f"{pluralize(progress.rows, 'segment')}, {pluralize(masked, 'row')} with secrets"
        yield progress.build_result(detail if progress.rows else "")

    async def _list_sealable(self) -> list[raw_log.StoredSegment]:
        inventory = await take_inventory(self._store, self._paths.raw_dir)
        missing = await asyncio.to_thread(raw_log.count_missing_bytes, inventory.segments, inventory.epoch_progress)
        self.damage = _describe_missing_bytes(missing)
        return [segment for segment in inventory.list_sealable() if self._needs_sealing(segment)]

    def _needs_sealing(self, segment: raw_log.StoredSegment) -> bool:
        settings = self._settings()
        return (settings.mask_raw and not segment.is_masked) or (settings.compress and not segment.is_compressed)

    async def _run_seal_worker(self, segments: list[raw_log.StoredSegment]) -> AsyncGenerator[SealResult, None]:
        if not segments:
            return
        args = (self._paths, self._settings(), [(segment.folder, segment.start) for segment in segments])
        count = 0
        async with aclosing(
            stream_worker("termvisor.capture.sealing:seal_segments", args, returns=SealResult)
        ) as results:
            async for result in results:
                count += 1
                yield result
        if count < len(segments):
            yield SealResult(error="the worker process exited early")


def _describe_missing_bytes(missing: Mapping[PaneId, int]) -> str:
    if not missing:
        return ""
    named = [f"{pane} ({pluralize(missing[pane], 'byte')})" for pane in sorted(missing)[:_MAX_NAMED_PANES]]
    more = f" and {len(missing) - len(named)} more" if len(missing) > len(named) else ""
    return (
        f"another program cut or deleted raw segments of pane {', '.join(named)}{more}: replay and `visor export --raw`"
        " lack these bytes; their text is stored unless `visor list-gaps` shows a gap `log_truncated`"
    )


def _remove_temporary_files(raw_dir: str) -> None:
    for _, _, folder in raw_log.list_epoch_folders(raw_dir):
        remove_leftovers(folder)


class SegmentInventory(Struct, frozen=True):
    segments: list[raw_log.StoredSegment]
    epoch_progress: Mapping[EpochId, raw_log.EpochProgress]

    def list_consumed(self) -> list[raw_log.StoredSegment]:
        """Return the segments whose bytes are all stored as text."""
        return [segment for segment in self.segments if raw_log.is_complete(segment, self.epoch_progress)]

    def list_sealable(self) -> list[raw_log.StoredSegment]:
        return [segment for segment in self.segments if raw_log.is_sealable(segment, self.epoch_progress)]


async def take_inventory(store: Store, raw_dir: str) -> SegmentInventory:
    segments = await asyncio.to_thread(raw_log.list_segments, raw_dir)
    return SegmentInventory(segments, await load_epoch_progress(store))


async def load_epoch_progress(store: Store) -> dict[EpochId, raw_log.EpochProgress]:
    """Read the progress of all epochs. Call it after listing the files: a listed epoch without a row never gets one."""
    epochs = await store.maintenance.read_epoch_progress()
    return {epoch: raw_log.EpochProgress(*progress) for epoch, progress in epochs.items()}

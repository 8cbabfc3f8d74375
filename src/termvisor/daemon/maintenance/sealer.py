"""Seal complete raw segments (mask secrets, compress) in a worker process that exits with the daemon.

On an error, such as a full disk, the segment stays unchanged and is retried in the next round.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress

import msgspec

from termvisor.capture.raw_log import StoredSegment, list_epoch_folders
from termvisor.capture.seal_worker import SealRequest, build_command
from termvisor.capture.sealing import SealOptions, SealResult, remove_leftovers
from termvisor.clock import Clock
from termvisor.daemon.maintenance.progress import MaintenanceProgress
from termvisor.daemon.maintenance.segment_inventory import take_inventory
from termvisor.model.maintenance import MaintenanceRun
from termvisor.ops.render.text import pluralize
from termvisor.settings import Paths, Settings, get_environment
from termvisor.store import Store
from termvisor.system.subprocesses import start_tied

_ENDED_EARLY = SealResult(error="the worker process exited early")


class SegmentSealer:
    """``settings`` is called each time, so a reload takes effect at once."""

    def __init__(self, store: Store, paths: Paths, clock: Clock, settings: Callable[[], Settings]):
        self._store, self._paths, self._clock, self._settings = store, paths, clock, settings
        self.problem = ""
        """Why the last segment could not be sealed, as text for users."""

    async def preview(self) -> MaintenanceRun:
        """Report what a round would seal now."""
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
                if result.error:
                    self.problem = f"raw segments cannot be sealed: {result.error}"
                    break
                masked, progress.bytes, progress.rows = (
                    masked + result.masked,
                    progress.bytes + result.freed,
                    progress.rows + 1,
                )
                yield progress.build_step(f"{progress.rows} of {len(sealable)} segments")
        detail = f"{pluralize(progress.rows, 'segment')}, {pluralize(masked, 'row')} with secrets"
        yield progress.build_result(detail if progress.rows else "")

    async def _list_sealable(self) -> list[StoredSegment]:
        inventory = await take_inventory(self._store, self._paths.raw_dir)
        return [segment for segment in inventory.list_sealable() if self._needs_sealing(segment)]

    def _needs_sealing(self, segment: StoredSegment) -> bool:
        settings = self._settings()
        return (settings.mask_raw and not segment.is_masked) or (settings.compress and not segment.is_compressed)

    async def _run_seal_worker(self, segments: list[StoredSegment]) -> AsyncGenerator[SealResult, None]:
        if not segments:
            return
        settings = self._settings()
        options = SealOptions(masks=settings.mask_raw, packs=settings.compress)
        request = SealRequest(options, [(segment.folder, segment.start) for segment in segments])
        count = 0
        async with aclosing(_read_worker_lines(msgspec.json.encode(request), self._paths)) as lines:
            async for line in lines:
                count += 1
                yield msgspec.json.decode(line, type=SealResult)
        if count < len(segments):
            yield _ENDED_EARLY


async def _read_worker_lines(request: bytes, paths: Paths) -> AsyncGenerator[bytes, None]:
    """Run the seal worker and yield its output lines; kill it if the generator is closed early."""
    stdin, request_pipe = os.pipe()
    answer_pipe, stdout = os.pipe()
    folders = {"VISOR_CONFIG_DIR": paths.config_dir, "VISOR_DATA_DIR": paths.data_dir}
    child = start_tied(build_command(), stdin=stdin, stdout=stdout, env=get_environment() | folders)
    os.close(stdin)
    os.close(stdout)
    with os.fdopen(answer_pipe, "rb") as lines:
        try:
            await asyncio.to_thread(_write_request, request_pipe, request)
            while line := await asyncio.to_thread(lines.readline):
                yield line
        finally:
            child.kill()
            child.wait()


def _write_request(pipe: int, request: bytes) -> None:
    # A worker that exited early is reported by the missing answers.
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        file.write(request)


def _remove_temporary_files(raw_dir: str) -> None:
    for _, _, folder in list_epoch_folders(raw_dir):
        remove_leftovers(folder)

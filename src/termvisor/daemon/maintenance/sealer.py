"""Has the raw segments that are complete masked and packed, by a process that dies with us.

A full disk is told and tried again in the next round; the segment stays as it was.
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

_ENDED_EARLY = SealResult(error="the process that does it ended early")


class SegmentSealer:
    """``settings`` is asked anew each time."""

    def __init__(self, store: Store, paths: Paths, clock: Clock, settings: Callable[[], Settings]):
        self._store, self._paths, self._clock, self._settings = store, paths, clock, settings
        self.problem = ""
        """Why the last segment could not be sealed, for a person to read."""

    async def preview(self) -> MaintenanceRun:
        """What a round would seal now."""
        tally = MaintenanceProgress("seal", self._clock)
        ripe = await self._list_sealable()
        tally.rows, tally.bytes = len(ripe), sum(segment.disk_bytes for segment in ripe)
        return tally.build_result(pluralize(len(ripe), "segment") if ripe else "")

    async def seal_segments(self) -> AsyncIterator[MaintenanceRun]:
        tally, masked = MaintenanceProgress("seal", self._clock), 0
        self.problem = ""
        await asyncio.to_thread(_remove_temporary_files, self._paths.raw_dir)
        ripe = await self._list_sealable()
        async with aclosing(self._run_seal_worker(ripe)) as results:
            async for result in results:
                if result.error:
                    self.problem = f"raw segments cannot be sealed: {result.error}"
                    break
                masked, tally.bytes, tally.rows = masked + result.masked, tally.bytes + result.freed, tally.rows + 1
                yield tally.build_step(f"{tally.rows} of {len(ripe)} segments")
        told = f"{pluralize(tally.rows, 'segment')}, {pluralize(masked, 'row')} with secrets"
        yield tally.build_result(told if tally.rows else "")

    async def _list_sealable(self) -> list[StoredSegment]:
        found = await take_inventory(self._store, self._paths.raw_dir)
        return [segment for segment in found.list_sealable() if self._needs_sealing(segment)]

    def _needs_sealing(self, segment: StoredSegment) -> bool:
        settings = self._settings()
        return (settings.mask_raw and not segment.is_masked) or (settings.compress and not segment.is_compressed)

    async def _run_seal_worker(self, segments: list[StoredSegment]) -> AsyncGenerator[SealResult, None]:
        if not segments:
            return
        settings = self._settings()
        wish = SealOptions(masks=settings.mask_raw, packs=settings.compress)
        request = SealRequest(wish, [(segment.folder, segment.start) for segment in segments])
        done = 0
        async with aclosing(_read_worker_lines(msgspec.json.encode(request), self._paths)) as answers:
            async for line in answers:
                done += 1
                yield msgspec.json.decode(line, type=SealResult)
        if done < len(segments):
            yield _ENDED_EARLY


async def _read_worker_lines(request: bytes, paths: Paths) -> AsyncGenerator[bytes, None]:
    """What the process says, line by line; it ends when it is done, or when nobody listens any more."""
    stdin, ask = os.pipe()
    answer, stdout = os.pipe()
    own = {"VISOR_CONFIG_DIR": paths.config_dir, "VISOR_DATA_DIR": paths.data_dir}
    child = start_tied(build_command(), stdin=stdin, stdout=stdout, env=get_environment() | own)
    os.close(stdin)
    os.close(stdout)
    with os.fdopen(answer, "rb") as lines:
        try:
            await asyncio.to_thread(_write_request, ask, request)
            while line := await asyncio.to_thread(lines.readline):
                yield line
        finally:
            child.kill()
            child.wait()


def _write_request(pipe: int, request: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        file.write(request)


def _remove_temporary_files(raw_dir: str) -> None:
    for _, _, folder in list_epoch_folders(raw_dir):
        remove_leftovers(folder)

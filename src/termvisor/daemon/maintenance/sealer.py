"""Has the raw segments that are complete masked and packed, by a process that dies with us.

A full disk is told and tried again in the next round; the segment stays as it was.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress

import msgspec

from termvisor.capture.raw_log import StoredSegment, folders
from termvisor.capture.seal_worker import Request, command
from termvisor.capture.sealing import Sealed, Wish, tidy
from termvisor.clock import Clock
from termvisor.daemon.maintenance.progress import Tally
from termvisor.daemon.maintenance.segment_inventory import surveyed
from termvisor.model.maintenance import Maintenance
from termvisor.ops.render.text import counted
from termvisor.settings import Places, Settings, environment
from termvisor.store import Store
from termvisor.system.subprocesses import tied

_ENDED_EARLY = Sealed(trouble="the process that does it ended early")


class Sealer:
    """``settings`` is asked anew each time."""

    def __init__(self, store: Store, places: Places, clock: Clock, settings: Callable[[], Settings]):
        self._store, self._places, self._clock, self._settings = store, places, clock, settings
        self.trouble = ""
        """Why the last segment could not be sealed, for a person to read."""

    async def waiting(self) -> Maintenance:
        """What a round would seal now."""
        tally = Tally("seal", self._clock)
        ripe = await self._ripe()
        tally.rows, tally.bytes = len(ripe), sum(segment.room for segment in ripe)
        return tally.done(counted(len(ripe), "segment") if ripe else "")

    async def seal(self) -> AsyncIterator[Maintenance]:
        tally, masked = Tally("seal", self._clock), 0
        self.trouble = ""
        await asyncio.to_thread(_tidied, self._places.raw_dir)
        ripe = await self._ripe()
        async with aclosing(self._results(ripe)) as results:
            async for result in results:
                if result.trouble:
                    self.trouble = f"raw segments cannot be sealed: {result.trouble}"
                    break
                masked, tally.bytes, tally.rows = masked + result.masked, tally.bytes + result.freed, tally.rows + 1
                yield tally.step(f"{tally.rows} of {len(ripe)} segments")
        told = f"{counted(tally.rows, 'segment')}, {counted(masked, 'row')} with secrets"
        yield tally.done(told if tally.rows else "")

    async def _ripe(self) -> list[StoredSegment]:
        found = await surveyed(self._store, self._places.raw_dir)
        return [segment for segment in found.ripe() if self._wants(segment)]

    def _wants(self, segment: StoredSegment) -> bool:
        settings = self._settings()
        return (settings.mask_raw and not segment.is_masked) or (settings.compress and not segment.is_packed)

    async def _results(self, segments: list[StoredSegment]) -> AsyncGenerator[Sealed, None]:
        if not segments:
            return
        settings = self._settings()
        wish = Wish(masks=settings.mask_raw, packs=settings.compress)
        request = Request(wish, [(segment.folder, segment.start) for segment in segments])
        done = 0
        async with aclosing(_answers(msgspec.json.encode(request), self._places)) as answers:
            async for line in answers:
                done += 1
                yield msgspec.json.decode(line, type=Sealed)
        if done < len(segments):
            yield _ENDED_EARLY


async def _answers(request: bytes, places: Places) -> AsyncGenerator[bytes, None]:
    """What the process says, line by line; it ends when it is done, or when nobody listens any more."""
    stdin, ask = os.pipe()
    answer, stdout = os.pipe()
    own = {"VISOR_CONFIG_DIR": places.config_dir, "VISOR_DATA_DIR": places.data_dir}
    child = tied(command(), stdin=stdin, stdout=stdout, env=environment() | own)
    os.close(stdin)
    os.close(stdout)
    with os.fdopen(answer, "rb") as lines:
        try:
            await asyncio.to_thread(_say, ask, request)
            while line := await asyncio.to_thread(lines.readline):
                yield line
        finally:
            child.kill()
            child.wait()


def _say(pipe: int, request: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "wb") as file:
        file.write(request)


def _tidied(raw_dir: str) -> None:
    for _, _, folder in folders(raw_dir):
        tidy(folder)

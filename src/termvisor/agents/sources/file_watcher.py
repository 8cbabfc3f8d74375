"""One reader and its ear: looks when the kernel says that something changed, hands on what it found, mends itself.

A look is made in a thread, for a file system may hang. What could not be handed on is handed on again; nothing is read
meanwhile. A failure concerns this listener alone, and is tried again later and later.
"""

import asyncio
import contextlib
import errno
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from msgspec.structs import replace

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.sources.json_redaction import clean
from termvisor.agents.sources.reader import SOON, Look, Reader
from termvisor.agents.sources.reader_health import Condition
from termvisor.clock import Clock
from termvisor.errors import VisorError
from termvisor.log import logger
from termvisor.model.agent.session import SourceHealth
from termvisor.system.backoff import Backoff
from termvisor.system.inotify import ARRIVALS, CHANGES, Hearing, Inotify, Stir

_POLL = 1.0
_SURELY = 60.0
"""Seconds after which everything is looked at, though nothing was heard: a link that was turned is not told."""

Heard = Callable[[list[Record]], Awaitable[None]]
log = logger("agents")


class Listener:
    """``heard`` returns when the records are stored."""

    def __init__(self, reader: Reader, agent: str, heard: Heard, clock: Clock):
        self._reader, self._heard, self._clock = reader, heard, clock
        self._condition = Condition(agent, reader.source, reader.where)
        self._backoff = Backoff()
        self._inotify: Inotify | None = None
        self._hearings: dict[tuple[str, int], Hearing] = {}
        self._wake = asyncio.Event()
        self._changed: set[str] | None = None
        """Paths to look at; None: all."""
        self._unheard: list[Record] = []
        self._looked_at = self._surveyed_at = -_SURELY

    @property
    def health(self) -> SourceHealth:
        return self._condition.health

    async def run(self, inotify: Inotify | None) -> None:
        """Until it is cancelled."""
        self._inotify = inotify
        try:
            while True:
                await self._wait(await self._turn())
        finally:
            self._leave(self._hearings.keys())

    async def _turn(self) -> float:
        """One look. The seconds until the next, if nothing is heard meanwhile."""
        try:
            pause = 0.0 if self._unheard else await self._look()
            await self._hand_on()
        except Exception as error:  # whatever is wrong with this one, the others go on
            return self._failed(error)
        self._backoff.worked()
        return pause

    async def _look(self) -> float:
        now = self._clock.monotonic()
        changed, self._changed = self._changed, set()
        if now - self._surveyed_at >= self._longest:
            changed = None
        self._looked_at = now
        look = await asyncio.to_thread(self._reader.look, changed)
        self._unheard = [replace(record, text=clean(record.text)) for record in look.records]
        self._condition.looked(is_absent=bool(look.awaited), dropped=look.dropped, detail=look.detail)
        if look.is_whole:
            self._surveyed_at = now
            self._listen(look)
        pauses = (SOON if self._changed is None else self._longest, look.again_in)
        return min(pause for pause in pauses if pause is not None)

    async def _hand_on(self) -> None:
        if self._unheard:
            await self._heard(self._unheard)
            self._condition.heard(len(self._unheard), self._clock.now())
        self._unheard = []
        self._reader.delivered()

    def _failed(self, error: Exception) -> float:
        why = error.message if isinstance(error, VisorError) else str(error) or type(error).__name__
        log.info("%s: %s: %s", self._reader.source, self._reader.where, why)
        self._condition.failed(why)
        self._changed = None
        now = self._clock.monotonic()
        self._looked_at = self._backoff.failed(now)  # not woken before
        return self._looked_at - now

    @property
    def _longest(self) -> float:
        return _POLL if self._is_polled else _SURELY

    @property
    def _is_polled(self) -> bool:
        return not self._hearings

    async def _wait(self, seconds: float) -> None:
        """For a change, but never two looks in a row: what is being written comes in many small pieces."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()
        await self._clock.sleep(max(0.0, self._looked_at + SOON - self._clock.monotonic()) if seconds else 0.0)

    def _listen(self, look: Look) -> None:
        """In all folders of this look and in no others. What happened before we listened is found by another look."""
        wanted = {(folder, CHANGES) for folder in look.folders}
        wanted |= {(look.awaited, ARRIVALS)} if look.awaited else set()
        self._leave([key for key in self._hearings if key not in wanted])
        try:
            for folder, mask in wanted:
                self._hear(folder, mask)
        except (FileNotFoundError, NotADirectoryError):
            self._changed = None  # it went away since we looked
        except OSError as error:
            self._leave(self._hearings.keys())
            self._condition.polled(_why_polled(error))
        else:
            self._condition.polled("")

    def _hear(self, folder: str, mask: int) -> None:
        """Also where we listen already: another folder may have taken its place."""
        if self._inotify is None:
            raise OSError(errno.ENOSYS, "")
        was = self._hearings.get((folder, mask))
        now = self._inotify.hear(folder, mask, partial(self._stirred, folder, mask))
        self._hearings[folder, mask] = now
        if was is not None:
            self._inotify.leave(was)
        if was is None or was.number != now.number:
            self._changed = None

    def _leave(self, keys: Iterable[tuple[str, int]]) -> None:
        for key in list(keys):
            hearing = self._hearings.pop(key)
            if self._inotify is not None:
                self._inotify.leave(hearing)

    def _stirred(self, folder: str, mask: int, stir: Stir) -> None:
        path = f"{folder}/{stir.name}"
        if mask == ARRIVALS and stir.name and not self._reader.where.startswith(f"{path}/"):
            return
        if not stir.name or stir.is_folder or mask == ARRIVALS:
            self._changed = None
        elif not self._reader.concerns(path):
            return
        elif self._changed is not None:
            self._changed.add(path)
        self._wake.set()


def _why_polled(error: OSError) -> str:
    reasons = {
        errno.ENOSYS: "this system has no inotify",
        errno.ENOSPC: "no inotify watch is left (fs.inotify.max_user_watches)",
        errno.EMFILE: "no inotify instance is left (fs.inotify.max_user_instances)",
    }
    why = reasons.get(error.errno or 0) or error.strerror or str(error)
    return f"looked at every second: {why}"

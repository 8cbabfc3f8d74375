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

from termvisor.agents.adapters.adapter import SourceRecord
from termvisor.agents.sources.json_redaction import redact_json_text
from termvisor.agents.sources.reader import RESCAN_DELAY_S, SourceReader, SourceScanResult
from termvisor.agents.sources.reader_health import SourceHealthTracker
from termvisor.clock import Clock
from termvisor.errors import VisorError
from termvisor.log import get_logger
from termvisor.model.agent.session import SourceHealth
from termvisor.system.backoff import Backoff
from termvisor.system.inotify import ARRIVAL_EVENTS, CHANGE_EVENTS, FolderChange, FolderWatch, Inotify

_POLL_INTERVAL_S = 1.0
_FULL_SCAN_INTERVAL_S = 60.0
"""Seconds after which everything is looked at, though nothing was heard: a link that was turned is not told."""

RecordHandler = Callable[[list[SourceRecord]], Awaitable[None]]
log = get_logger("agents")


class FileWatcher:
    """``heard`` returns when the records are stored."""

    def __init__(self, reader: SourceReader, agent: str, on_records: RecordHandler, clock: Clock):
        self._reader, self._on_records, self._clock = reader, on_records, clock
        self._health = SourceHealthTracker(agent, reader.source, reader.where)
        self._backoff = Backoff()
        self._inotify: Inotify | None = None
        self._inotify_watches: dict[tuple[str, int], FolderWatch] = {}
        self._wake_event = asyncio.Event()
        self._changed_paths: set[str] | None = None
        """Paths to look at; None: all."""
        self._undelivered_records: list[SourceRecord] = []
        self._last_scan_at = self._last_full_scan_at = -_FULL_SCAN_INTERVAL_S

    @property
    def health(self) -> SourceHealth:
        return self._health.health

    async def run(self, inotify: Inotify | None) -> None:
        """Until it is cancelled."""
        self._inotify = inotify
        try:
            while True:
                await self._wait_for_change(await self._scan_and_deliver())
        finally:
            self._remove_inotify_watches(self._inotify_watches.keys())

    async def _scan_and_deliver(self) -> float:
        """One look. The seconds until the next, if nothing is heard meanwhile."""
        try:
            pause = 0.0 if self._undelivered_records else await self._scan()
            await self._deliver_records()
        except Exception as error:  # whatever is wrong with this one, the others go on
            return self._handle_error(error)
        self._backoff.record_success()
        return pause

    async def _scan(self) -> float:
        now = self._clock.monotonic()
        changed, self._changed_paths = self._changed_paths, set()
        if now - self._last_full_scan_at >= self._max_scan_interval_s:
            changed = None
        self._last_scan_at = now
        look = await asyncio.to_thread(self._reader.scan, changed)
        self._undelivered_records = [replace(record, text=redact_json_text(record.text)) for record in look.records]
        self._health.record_scan(is_absent=bool(look.awaited_folder), dropped=look.dropped, detail=look.detail)
        if look.is_full_scan:
            self._last_full_scan_at = now
            self._update_inotify_watches(look)
        pauses = (RESCAN_DELAY_S if self._changed_paths is None else self._max_scan_interval_s, look.rescan_after_s)
        return min(pause for pause in pauses if pause is not None)

    async def _deliver_records(self) -> None:
        if self._undelivered_records:
            await self._on_records(self._undelivered_records)
            self._health.record_delivery(len(self._undelivered_records), self._clock.now())
        self._undelivered_records = []
        self._reader.confirm_stored()

    def _handle_error(self, error: Exception) -> float:
        why = error.message if isinstance(error, VisorError) else str(error) or type(error).__name__
        log.info("%s: %s: %s", self._reader.source, self._reader.where, why)
        self._health.record_error(why)
        self._changed_paths = None
        now = self._clock.monotonic()
        self._last_scan_at = self._backoff.record_failure(now)  # not woken before
        return self._last_scan_at - now

    @property
    def _max_scan_interval_s(self) -> float:
        return _POLL_INTERVAL_S if self._is_polling else _FULL_SCAN_INTERVAL_S

    @property
    def _is_polling(self) -> bool:
        return not self._inotify_watches

    async def _wait_for_change(self, seconds: float) -> None:
        """For a change, but never two looks in a row: what is being written comes in many small pieces."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake_event.wait()
        self._wake_event.clear()
        await self._clock.sleep(
            max(0.0, self._last_scan_at + RESCAN_DELAY_S - self._clock.monotonic()) if seconds else 0.0
        )

    def _update_inotify_watches(self, result: SourceScanResult) -> None:
        """In all folders of this look and in no others. What happened before we listened is found by another look."""
        wanted = {(folder, CHANGE_EVENTS) for folder in result.folders}
        wanted |= {(result.awaited_folder, ARRIVAL_EVENTS)} if result.awaited_folder else set()
        self._remove_inotify_watches([key for key in self._inotify_watches if key not in wanted])
        try:
            for folder, mask in wanted:
                self._add_inotify_watch(folder, mask)
        except (FileNotFoundError, NotADirectoryError):
            self._changed_paths = None  # it went away since we looked
        except OSError as error:
            self._remove_inotify_watches(self._inotify_watches.keys())
            self._health.set_polling_reason(_explain_polling(error))
        else:
            self._health.set_polling_reason("")

    def _add_inotify_watch(self, folder: str, mask: int) -> None:
        """Also where we listen already: another folder may have taken its place."""
        if self._inotify is None:
            raise OSError(errno.ENOSYS, "")
        was = self._inotify_watches.get((folder, mask))
        now = self._inotify.watch_folder(folder, mask, partial(self._handle_inotify_event, folder, mask))
        self._inotify_watches[folder, mask] = now
        if was is not None:
            self._inotify.unwatch_folder(was)
        if was is None or was.watch_id != now.watch_id:
            self._changed_paths = None

    def _remove_inotify_watches(self, keys: Iterable[tuple[str, int]]) -> None:
        for key in list(keys):
            hearing = self._inotify_watches.pop(key)
            if self._inotify is not None:
                self._inotify.unwatch_folder(hearing)

    def _handle_inotify_event(self, folder: str, mask: int, event: FolderChange) -> None:
        path = f"{folder}/{event.name}"
        if mask == ARRIVAL_EVENTS and event.name and not self._reader.where.startswith(f"{path}/"):
            return
        if not event.name or event.is_folder or mask == ARRIVAL_EVENTS:
            self._changed_paths = None
        elif not self._reader.is_relevant_path(path):
            return
        elif self._changed_paths is not None:
            self._changed_paths.add(path)
        self._wake_event.set()


def _explain_polling(error: OSError) -> str:
    reasons = {
        errno.ENOSYS: "this system has no inotify",
        errno.ENOSPC: "no inotify watch is left (fs.inotify.max_user_watches)",
        errno.EMFILE: "no inotify instance is left (fs.inotify.max_user_instances)",
    }
    why = reasons.get(error.errno or 0) or error.strerror or str(error)
    return f"looked at every second: {why}"

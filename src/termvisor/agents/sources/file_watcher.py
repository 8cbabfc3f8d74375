"""Run one source reader: scan when inotify reports a change, deliver its records, retry after errors.

Scans run in a thread because a file system may hang. Records that could not be delivered are delivered again before
anything more is read. Errors affect this source only and are retried with backoff.
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
from termvisor.model.agent.evidence_source import SourceHealth
from termvisor.system.backoff import Backoff
from termvisor.system.inotify import ARRIVAL_EVENTS, CHANGE_EVENTS, FolderChange, FolderWatch, Inotify

_POLL_INTERVAL_S = 1.0
_FULL_SCAN_INTERVAL_S = 60.0
"""Scan everything this often even without events: inotify does not report a symlink that points elsewhere now."""

RecordHandler = Callable[[list[SourceRecord]], Awaitable[None]]
log = get_logger("agents")


class FileWatcher:
    """``on_records`` returns when the records are stored."""

    def __init__(self, reader: SourceReader, agent: str, on_records: RecordHandler, clock: Clock):
        self._reader, self._on_records, self._clock = reader, on_records, clock
        self._health = SourceHealthTracker(agent, reader.source, reader.where)
        self._backoff = Backoff()
        self._inotify: Inotify | None = None
        self._inotify_watches: dict[tuple[str, int], FolderWatch] = {}
        self._wake_event = asyncio.Event()
        self._changed_paths: set[str] | None = None
        """Paths to scan; None: all."""
        self._undelivered_records: list[SourceRecord] = []
        self._last_scan_at = self._last_full_scan_at = -_FULL_SCAN_INTERVAL_S

    @property
    def health(self) -> SourceHealth:
        return self._health.health

    async def run(self, inotify: Inotify | None) -> None:
        """Watch until cancelled."""
        self._inotify = inotify
        try:
            while True:
                await self._wait_for_change(await self._scan_and_deliver())
        finally:
            self._remove_inotify_watches(self._inotify_watches.keys())

    async def _scan_and_deliver(self) -> float:
        """Scan once and return the seconds until the next scan if no event arrives before."""
        try:
            pause = 0.0 if self._undelivered_records else await self._scan()
            await self._deliver_records()
        except Exception as error:  # plug-in boundary: an error of one source must not stop the others
            return self._handle_error(error)
        self._backoff.record_success()
        return pause

    async def _scan(self) -> float:
        now = self._clock.monotonic()
        # Taken before the scan: a change during it must trigger the next one.
        changed, self._changed_paths = self._changed_paths, set()
        if now - self._last_full_scan_at >= self._max_scan_interval_s:
            changed = None
        self._last_scan_at = now
        result = await asyncio.to_thread(self._reader.scan, changed)
        self._undelivered_records = [replace(record, text=redact_json_text(record.text)) for record in result.records]
        self._health.record_scan(is_absent=bool(result.awaited_folder), dropped=result.dropped, detail=result.detail)
        if result.is_full_scan:
            self._last_full_scan_at = now
            self._update_inotify_watches(result)
        pauses = (RESCAN_DELAY_S if self._changed_paths is None else self._max_scan_interval_s, result.rescan_after_s)
        return min(pause for pause in pauses if pause is not None)

    async def _deliver_records(self) -> None:
        if self._undelivered_records:
            await self._on_records(self._undelivered_records)
            self._health.record_delivery(len(self._undelivered_records), self._clock.now())
        self._undelivered_records = []
        self._reader.confirm_stored()

    def _handle_error(self, error: Exception) -> float:
        reason = error.message if isinstance(error, VisorError) else str(error) or type(error).__name__
        log.info("%s: %s: %s", self._reader.source, self._reader.where, reason)
        self._health.record_error(reason)
        self._changed_paths = None  # what the failed scan missed is unknown: scan everything next
        now = self._clock.monotonic()
        self._last_scan_at = self._backoff.record_failure(now)  # inotify events do not wake it before that
        return self._last_scan_at - now

    @property
    def _max_scan_interval_s(self) -> float:
        return _POLL_INTERVAL_S if self._is_polling else _FULL_SCAN_INTERVAL_S

    @property
    def _is_polling(self) -> bool:
        return not self._inotify_watches

    async def _wait_for_change(self, seconds: float) -> None:
        """Wait for a change, at least RESCAN_DELAY_S after the last scan: files are written in many small pieces."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake_event.wait()
        self._wake_event.clear()
        await self._clock.sleep(
            max(0.0, self._last_scan_at + RESCAN_DELAY_S - self._clock.monotonic()) if seconds else 0.0
        )

    def _update_inotify_watches(self, result: SourceScanResult) -> None:
        """Watch exactly the folders of this scan; a new watch triggers a full scan for changes that preceded it."""
        watch_keys = {(folder, CHANGE_EVENTS) for folder in result.folders}
        watch_keys |= {(result.awaited_folder, ARRIVAL_EVENTS)} if result.awaited_folder else set()
        self._remove_inotify_watches([key for key in self._inotify_watches if key not in watch_keys])
        try:
            for folder, mask in watch_keys:
                self._add_inotify_watch(folder, mask)
        except (FileNotFoundError, NotADirectoryError):
            self._changed_paths = None  # removed since the scan: scan again
        except OSError as error:  # no inotify watches left: poll all folders of this source instead
            self._remove_inotify_watches(self._inotify_watches.keys())
            self._health.set_polling_reason(_explain_polling(error))
        else:
            self._health.set_polling_reason("")

    def _add_inotify_watch(self, folder: str, mask: int) -> None:
        """Watch a folder, also if it is watched already: another folder may have replaced it."""
        if self._inotify is None:
            raise OSError(errno.ENOSYS, "")
        old = self._inotify_watches.get((folder, mask))
        new = self._inotify.watch_folder(folder, mask, partial(self._handle_inotify_event, folder, mask))
        self._inotify_watches[folder, mask] = new
        if old is not None:
            self._inotify.unwatch_folder(old)
        if old is None or old.watch_id != new.watch_id:
            self._changed_paths = None

    def _remove_inotify_watches(self, keys: Iterable[tuple[str, int]]) -> None:
        for key in list(keys):
            watch = self._inotify_watches.pop(key)
            if self._inotify is not None:
                self._inotify.unwatch_folder(watch)

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
    return f"polled every second: {reasons.get(error.errno or 0) or error.strerror or error}"

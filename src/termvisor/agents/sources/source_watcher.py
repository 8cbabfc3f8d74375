"""Watch all files of agents and the hook spool, and deliver their records one batch at a time.

In: the paths that adapters name, and the hook spool. Out: redacted records. `FileWatcher` runs one reader: it scans
when inotify reports a change, in a thread because a file system may hang. Records that could not be delivered are
delivered again before anything more is read. Errors affect this source only and are retried with backoff.
"""

import asyncio
import contextlib
import errno
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.agents.sources.hook_spool import HookSpool
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.agents.sources.record_delivery import RecordDelivery, RecordHandler
from termvisor.agents.sources.source_reader import RESCAN_DELAY_S, SourceReader, SourceScanResult
from termvisor.agents.sources.whole_files import WholeFilesReader
from termvisor.clock import Clock
from termvisor.log import get_logger
from termvisor.model.agent.evidence import SourceHealth
from termvisor.model.ids import RuntimeId
from termvisor.system.inotify import ARRIVAL_EVENTS, CHANGE_EVENTS, FolderChange, FolderWatch, Inotify
from termvisor.system.retry import Backoff

_POLL_INTERVAL_S = 1.0
# Scan everything this often even without events, because inotify does not report a redirected symlink.
_FULL_SCAN_INTERVAL_S = 60.0
log = get_logger("agents")
_WatchKey = tuple[RuntimeId | None, WatchedPath | None]
# No runtime has the id None, so that `watch` never removes the spool.
_SPOOL_KEY: _WatchKey = (None, None)
ReadPositionsFactory = Callable[[RuntimeId, str], ReadPositions | None]
"""Return the stored read positions of a watch, by its key and name; None if they are not stored."""


class SourceWatcher:
    """Watcher of all sources. ``on_records`` returns when records are stored; until then a source delivers no more."""

    def __init__(
        self,
        on_records: RecordHandler,
        clock: Clock,
        spool: HookSpool | None = None,
        *,
        open_read_positions: ReadPositionsFactory = lambda key, watch: None,
    ):
        self._on_records, self._clock, self._open_read_positions = on_records, clock, open_read_positions
        # Batches are handled one after the other: the order of facts is the order of delivery.
        self._delivery_lock = asyncio.Lock()
        self._file_watchers: dict[_WatchKey, FileWatcher] = {}
        if spool is not None:
            self._file_watchers[_SPOOL_KEY] = FileWatcher(spool, "", self._deliver_serially, clock)
        self._tasks: dict[_WatchKey, asyncio.Task[None]] = {}
        self._task_group: asyncio.TaskGroup | None = None
        self._inotify: Inotify | None = None

    def watch(self, key: RuntimeId, watches: Sequence[WatchedPath], agent: str = "") -> None:
        """Replace the watches of this key. Existing ones that are in the new list continue undisturbed."""
        watches_by_key: dict[_WatchKey, WatchedPath] = {(key, watch): watch for watch in watches}
        for watch_key in {one for one in self._file_watchers if one[0] == key} - watches_by_key.keys():
            del self._file_watchers[watch_key]
            if task := self._tasks.pop(watch_key, None):
                task.cancel()
        for watch_key, watch in watches_by_key.items():
            if watch_key in self._file_watchers:
                continue
            reader = self._build_reader(key, watch)
            self._file_watchers[watch_key] = FileWatcher(reader, agent, self._deliver_serially, self._clock)
            self._start_watcher(watch_key)

    def _build_reader(self, key: RuntimeId, watch: WatchedPath) -> SourceReader:
        if watch.kind == "files":
            return WholeFilesReader(watch, self._clock)
        return AppendedLinesReader(
            watch, self._clock, self._open_read_positions(key, f"{watch.source} {watch.folder}/{watch.pattern}")
        )

    def unwatch(self, key: RuntimeId) -> None:
        self.watch(key, ())

    def list_health(self) -> list[SourceHealth]:
        """Return the health of the hook spool, then of every watch."""
        return [watcher.health for watcher in self._file_watchers.values()]

    async def run(self) -> None:
        """Watch until cancelled."""
        try:
            with self._open_inotify() as self._inotify:
                async with asyncio.TaskGroup() as self._task_group:
                    for watch_key in self._file_watchers:
                        self._start_watcher(watch_key)
                    await asyncio.Event().wait()
        finally:
            self._task_group = self._inotify = None
            self._tasks.clear()

    def _start_watcher(self, watch_key: _WatchKey) -> None:
        if self._task_group is not None:
            self._tasks[watch_key] = self._task_group.create_task(self._file_watchers[watch_key].run(self._inotify))

    @contextlib.contextmanager
    def _open_inotify(self) -> Iterator[Inotify | None]:
        try:
            inotify = Inotify()
        except OSError as error:  # no inotify instance left: poll instead
            log.warning("inotify is unavailable, polling the folders of agents every second: %s", error)
            yield None
            return
        with contextlib.closing(inotify):
            yield inotify

    async def _deliver_serially(self, records: list[SourceRecord]) -> None:
        async with self._delivery_lock:
            await self._on_records(records)


class FileWatcher:
    """``on_records`` returns when the records are stored."""

    def __init__(self, reader: SourceReader, agent: str, on_records: RecordHandler, clock: Clock):
        self._reader, self._clock = reader, clock
        self._delivery = RecordDelivery(agent, reader.source, reader.where, on_records, clock)
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
        return self._delivery.health

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
            await self._delivery.deliver_records(self._undelivered_records)
            self._undelivered_records = []
            self._reader.confirm_stored()
        except Exception as error:  # plug-in boundary: an error of one source must not stop the others
            return self._handle_error(error)
        self._backoff.record_success()
        return pause

    async def _scan(self) -> float:
        now = self._clock.monotonic()
        # Taken before the scan, because a change during the scan must trigger the next one.
        changed, self._changed_paths = self._changed_paths, set()
        if now - self._last_full_scan_at >= self._max_scan_interval_s:
            changed = None
        self._last_scan_at = now
        result = await asyncio.to_thread(self._reader.scan, changed)
        self._undelivered_records = result.records
        self._delivery.record_scan(is_absent=bool(result.awaited_folder), dropped=result.dropped, detail=result.detail)
        if result.is_full_scan:
            self._last_full_scan_at = now
            self._update_inotify_watches(result)
        pauses = (RESCAN_DELAY_S if self._changed_paths is None else self._max_scan_interval_s, result.rescan_after_s)
        return min(pause for pause in pauses if pause is not None)

    def _handle_error(self, error: Exception) -> float:
        self._delivery.record_error(error)
        self._changed_paths = None  # what the failed scan missed is unknown: scan everything next
        now = self._clock.monotonic()
        self._last_scan_at = self._backoff.record_failure(now)  # inotify events do not wake it before that
        return self._last_scan_at - now

    @property
    def _max_scan_interval_s(self) -> float:
        return _FULL_SCAN_INTERVAL_S if self._inotify_watches else _POLL_INTERVAL_S

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
            self._delivery.polling_reason = _explain_polling(error)
        else:
            self._delivery.polling_reason = ""

    def _add_inotify_watch(self, folder: str, mask: int) -> None:
        """Watch a folder, even if it is already watched, because another folder may have replaced it."""
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
        # The parent of a missing folder reports all its entries, but only the path to that folder matters.
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

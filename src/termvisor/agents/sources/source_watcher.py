"""Watch all files of agents and the hook spool, and deliver their records one batch at a time.

In: the paths that adapters name, and the hook spool. Out: redacted records. A failing watch does not affect the others.
"""

import asyncio
import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence

from termvisor.agents.adapters.adapter import SourceRecord, WatchedPath
from termvisor.agents.sources.appended_lines import AppendedLinesReader
from termvisor.agents.sources.file_watcher import FileWatcher, RecordHandler
from termvisor.agents.sources.hook_spool import HookSpool
from termvisor.agents.sources.read_positions import ReadPositions
from termvisor.agents.sources.reader import SourceReader
from termvisor.agents.sources.whole_files import WholeFilesReader
from termvisor.clock import Clock
from termvisor.log import get_logger
from termvisor.model.agent.evidence_source import SourceHealth
from termvisor.system.inotify import Inotify

log = get_logger("agents")
_WatchKey = tuple[Hashable, WatchedPath]
ReadPositionsFactory = Callable[[Hashable, str], ReadPositions | None]
"""Return the stored read positions of a watch, by its key and name; None if they are not stored."""


class SourceWatcher:
    """``on_records`` returns when the records are stored; until then no more of the same source are delivered."""

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
        self._spool_watcher = FileWatcher(spool, "", self._deliver_serially, clock) if spool else None
        self._file_watchers: dict[_WatchKey, FileWatcher] = {}
        self._tasks: dict[_WatchKey, asyncio.Task[None]] = {}
        self._task_group: asyncio.TaskGroup | None = None
        self._inotify: Inotify | None = None

    def watch(self, key: Hashable, watches: Sequence[WatchedPath], agent: str = "") -> None:
        """Replace the watches of this key; those it already has continue undisturbed."""
        watch_keys: list[_WatchKey] = [(key, watch) for watch in watches]
        self._stop_watchers({watch_key for watch_key in self._file_watchers if watch_key[0] == key} - set(watch_keys))
        for watch_key in watch_keys:
            if watch_key not in self._file_watchers:
                self._file_watchers[watch_key] = FileWatcher(
                    self._build_reader(*watch_key), agent, self._deliver_serially, self._clock
                )
                self._start_watcher(watch_key)

    def _build_reader(self, key: Hashable, watch: WatchedPath) -> SourceReader:
        if watch.kind == "files":
            return WholeFilesReader(watch, self._clock)
        return AppendedLinesReader(
            watch, self._clock, self._open_read_positions(key, f"{watch.source} {watch.folder}/{watch.pattern}")
        )

    def unwatch(self, key: Hashable) -> None:
        self.watch(key, ())

    def list_health(self) -> list[SourceHealth]:
        """Return the health of the hook spool, then of every watch."""
        spool = [self._spool_watcher] if self._spool_watcher else []
        return [watcher.health for watcher in (*spool, *self._file_watchers.values())]

    async def run(self) -> None:
        """Watch until cancelled."""
        try:
            with self._open_inotify() as self._inotify:
                async with asyncio.TaskGroup() as self._task_group:
                    if self._spool_watcher:
                        self._task_group.create_task(self._spool_watcher.run(self._inotify))
                    for watch_key in self._file_watchers:
                        self._start_watcher(watch_key)
                    await asyncio.Event().wait()
        finally:
            self._task_group = self._inotify = None
            self._tasks.clear()

    def _start_watcher(self, watch_key: _WatchKey) -> None:
        if self._task_group is not None:
            self._tasks[watch_key] = self._task_group.create_task(self._file_watchers[watch_key].run(self._inotify))

    def _stop_watchers(self, watch_keys: set[_WatchKey]) -> None:
        for watch_key in watch_keys:
            del self._file_watchers[watch_key]
            if task := self._tasks.pop(watch_key, None):
                task.cancel()

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

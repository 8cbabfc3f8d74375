"""All that agents leave on this machine is heard here: watches come and go, records go out.

What comes in: watches, as adapters name them, and the hooks' spool. What goes out: lists of records, redacted, one list
after the other. One watch that is broken disturbs no other.
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
from termvisor.model.agent.session import SourceHealth
from termvisor.system.inotify import Inotify

log = get_logger("agents")
_WatchKey = tuple[Hashable, WatchedPath]
ReadPositionsFactory = Callable[[Hashable, str], ReadPositions | None]
"""How far the files of a place are read, for a key; None where that is not kept."""


class SourceWatcher:
    """``heard`` returns when the records are stored; until then nothing more comes from the same place."""

    def __init__(self, on_records: RecordHandler, clock: Clock, spool: HookSpool | None = None):
        self._on_records, self._clock = on_records, clock
        self.open_read_positions: ReadPositionsFactory = lambda key, place: None
        self._delivery_lock = asyncio.Lock()
        self._spool_watcher = FileWatcher(spool, "", self._deliver_serially, clock) if spool else None
        self._file_watchers: dict[_WatchKey, FileWatcher] = {}
        self._tasks: dict[_WatchKey, asyncio.Task[None]] = {}
        self._task_group: asyncio.TaskGroup | None = None
        self._inotify: Inotify | None = None

    def watch(self, key: Hashable, watches: Sequence[WatchedPath], agent: str = "") -> None:
        """From now on hear exactly these for this key; those it had before go on undisturbed."""
        wanted: set[_WatchKey] = {(key, watch) for watch in watches}
        self._stop_watchers({place for place in self._file_watchers if place[0] == key} - wanted)
        for place in [(key, watch) for watch in watches]:
            if place not in self._file_watchers:
                self._file_watchers[place] = FileWatcher(
                    self._build_reader(*place), agent, self._deliver_serially, self._clock
                )
                self._start_watcher(place)

    def _build_reader(self, key: Hashable, watch: WatchedPath) -> SourceReader:
        if watch.kind == "files":
            return WholeFilesReader(watch, self._clock)
        return AppendedLinesReader(
            watch, self._clock, self.open_read_positions(key, f"{watch.source} {watch.folder}/{watch.pattern}")
        )

    def unwatch(self, key: Hashable) -> None:
        self.watch(key, ())

    def list_health(self) -> list[SourceHealth]:
        """Of the spool, then of every watch."""
        everyone = [self._spool_watcher] if self._spool_watcher else []
        return [listener.health for listener in (*everyone, *self._file_watchers.values())]

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            with self._open_inotify() as self._inotify:
                async with asyncio.TaskGroup() as self._task_group:
                    if self._spool_watcher:
                        self._task_group.create_task(self._spool_watcher.run(self._inotify))
                    for place in self._file_watchers:
                        self._start_watcher(place)
                    await asyncio.Event().wait()
        finally:
            self._task_group = self._inotify = None
            self._tasks.clear()

    def _start_watcher(self, watch_key: _WatchKey) -> None:
        if self._task_group is not None:
            self._tasks[watch_key] = self._task_group.create_task(self._file_watchers[watch_key].run(self._inotify))

    def _stop_watchers(self, watch_keys: set[_WatchKey]) -> None:
        for place in watch_keys:
            del self._file_watchers[place]
            if task := self._tasks.pop(place, None):
                task.cancel()

    @contextlib.contextmanager
    def _open_inotify(self) -> Iterator[Inotify | None]:
        try:
            ear = Inotify()
        except OSError as error:
            log.warning("folders of agents are looked at every second: %s", error)
            yield None
            return
        try:
            yield ear
        finally:
            ear.close()

    async def _deliver_serially(self, records: list[SourceRecord]) -> None:
        async with self._delivery_lock:
            await self._on_records(records)

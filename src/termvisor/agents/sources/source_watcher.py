"""All that agents leave on this machine is heard here: watches come and go, records go out.

What comes in: watches, as adapters name them, and the hooks' spool. What goes out: lists of records, redacted, one list
after the other. One watch that is broken disturbs no other.
"""

import asyncio
import contextlib
from collections.abc import Callable, Hashable, Iterator, Sequence

from termvisor.agents.adapters.adapter import Record, Watch
from termvisor.agents.sources.appended_lines import LinesReader
from termvisor.agents.sources.file_watcher import Heard, Listener
from termvisor.agents.sources.hook_spool import Spool
from termvisor.agents.sources.read_positions import Ribbon
from termvisor.agents.sources.reader import Reader
from termvisor.agents.sources.whole_files import FilesReader
from termvisor.clock import Clock
from termvisor.log import logger
from termvisor.model.agent.session import SourceHealth
from termvisor.system.inotify import Inotify

log = logger("agents")
_Place = tuple[Hashable, Watch]
Ribbons = Callable[[Hashable, str], Ribbon | None]
"""How far the files of a place are read, for a key; None where that is not kept."""


class Listening:
    """``heard`` returns when the records are stored; until then nothing more comes from the same place."""

    def __init__(self, heard: Heard, clock: Clock, spool: Spool | None = None):
        self._heard, self._clock = heard, clock
        self.ribbons: Ribbons = lambda key, place: None
        self._turn = asyncio.Lock()
        self._spool = Listener(spool, "", self._one_by_one, clock) if spool else None
        self._listeners: dict[_Place, Listener] = {}
        self._tasks: dict[_Place, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._inotify: Inotify | None = None

    def watch(self, key: Hashable, watches: Sequence[Watch], agent: str = "") -> None:
        """From now on hear exactly these for this key; those it had before go on undisturbed."""
        wanted: set[_Place] = {(key, watch) for watch in watches}
        self._drop({place for place in self._listeners if place[0] == key} - wanted)
        for place in [(key, watch) for watch in watches]:
            if place not in self._listeners:
                self._listeners[place] = Listener(self._reader(*place), agent, self._one_by_one, self._clock)
                self._start(place)

    def _reader(self, key: Hashable, watch: Watch) -> Reader:
        if watch.kind == "files":
            return FilesReader(watch, self._clock)
        return LinesReader(watch, self._clock, self.ribbons(key, f"{watch.source} {watch.folder}/{watch.pattern}"))

    def unwatch(self, key: Hashable) -> None:
        self.watch(key, ())

    def health(self) -> list[SourceHealth]:
        """Of the spool, then of every watch."""
        everyone = [self._spool] if self._spool else []
        return [listener.health for listener in (*everyone, *self._listeners.values())]

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            with self._ear() as self._inotify:
                async with asyncio.TaskGroup() as self._group:
                    if self._spool:
                        self._group.create_task(self._spool.run(self._inotify))
                    for place in self._listeners:
                        self._start(place)
                    await asyncio.Event().wait()
        finally:
            self._group = self._inotify = None
            self._tasks.clear()

    def _start(self, place: _Place) -> None:
        if self._group is not None:
            self._tasks[place] = self._group.create_task(self._listeners[place].run(self._inotify))

    def _drop(self, places: set[_Place]) -> None:
        for place in places:
            del self._listeners[place]
            if task := self._tasks.pop(place, None):
                task.cancel()

    @contextlib.contextmanager
    def _ear(self) -> Iterator[Inotify | None]:
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

    async def _one_by_one(self, records: list[Record]) -> None:
        async with self._turn:
            await self._heard(records)

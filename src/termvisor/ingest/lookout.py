"""Finds the tmux servers of this user, keeps a watch on each, and keeps the recorder alive."""

import asyncio
import contextlib

from termvisor.errors import MuxError, VisorError
from termvisor.ingest.backoff import Backoff
from termvisor.ingest.recording import Grew, Lost, News
from termvisor.ingest.watch import Kit, ServerWatch
from termvisor.log import logger
from termvisor.model.output import Epoch
from termvisor.model.pane import ServerInstance
from termvisor.mux.tmux.process import started
from termvisor.mux.tmux.sockets import answers, candidates
from termvisor.settings import Places

_SCAN_FOR = 1.0
_FIRST_LOOK_FOR = 3.0
log = logger("lookout")


class Lookout:
    def __init__(self, kit: Kit, places: Places):
        self._kit, self._places = kit, places
        self._recorder_is_lost = asyncio.Event()
        self._recorder_backoff = Backoff()
        self._stopping = asyncio.Event()
        self._keeps_pipes = False
        self.watches: dict[str, ServerWatch] = {}
        self.has_looked = asyncio.Event()
        self._watch_backoffs: dict[str, Backoff] = {}
        self._not_before: dict[str, float] = {}
        self.recorder_restarts = self.watch_restarts = 0
        self.alerts: dict[str, str] = {}

    def news(self, item: News) -> None:
        """The recorder's news, on the event loop."""
        if isinstance(item, Grew):
            self._kit.epochs.text.grew(item.epoch, item.size)
        else:
            for watch in self.watches.values():
                watch.post(item)
            if isinstance(item, Lost) and not self._stopping.is_set():
                self._recorder_is_lost.set()

    def stop(self, *, keep_pipes: bool = False) -> None:
        """Leave all servers; with ``keep_pipes`` the recorder goes on for a later daemon."""
        self._keeps_pipes = keep_pipes
        self._stopping.set()

    @property
    def forks(self) -> int:
        """Programs started by us since the daemon began."""
        return self._kit.forks

    async def run(self) -> None:
        await self._close_orphans()
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(self._keep_recorder())
            self._find(group)
            looking = group.create_task(self._first_look())
            while not await self._is_stopping_within(_SCAN_FOR):
                self._find(group)
            looking.cancel()
            for watch in self.watches.values():
                watch.stop(keep_pipes=self._keeps_pipes)
            keeper.cancel()

    async def _first_look(self) -> None:
        """A server that does not answer holds up the first answer only for a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_LOOK_FOR):
                for watch in list(self.watches.values()):
                    await watch.has_looked.wait()
        self.has_looked.set()

    def _find(self, group: asyncio.TaskGroup) -> None:
        for socket in candidates(self._places, self._kit.settings):
            is_due = self._kit.epochs.clock.monotonic() >= self._not_before.get(socket, 0.0)
            if socket not in self.watches and is_due and answers(socket):
                watch = self.watches[socket] = ServerWatch(socket, self._kit)
                group.create_task(self._watch(watch))

    async def _watch(self, watch: ServerWatch) -> None:
        try:
            await watch.run()
        except MuxError as error:
            log.warning("%s is not watched: %s", watch.socket, error)
        except Exception:  # the task supervisor: one server's trouble ends no other watch
            log.exception("the watch on %s failed", watch.socket)
            await self._failed(watch)
        finally:
            watch.has_looked.set()
            del self.watches[watch.socket]

    async def _failed(self, watch: ServerWatch) -> None:
        """It is tried again soon, and goes on with the epochs that are still open."""
        socket, clock = watch.socket, self._kit.epochs.clock
        self.watch_restarts += 1
        backoff = self._watch_backoffs.setdefault(socket, Backoff())
        self._not_before[socket] = backoff.failed(clock.monotonic())
        if backoff.is_held:
            self.alerts[socket] = f"watching {socket} keeps failing; the next try is in five minutes (see `visor logs`)"
            await self._kit.epochs.chronicle.tell("alert", what=self.alerts[socket])
        else:
            self.alerts.pop(socket, None)
        await watch.abandon()
        mine = {known.id for known in watch.known.values()}
        for epoch in await self._kit.epochs.store.output.open_epochs():
            if epoch.pane in mine:
                self._kit.left_open.setdefault(epoch.pane, []).append(epoch)

    async def _keep_recorder(self) -> None:
        tell = self._kit.epochs.chronicle.tell
        while True:
            await self._recorder_is_lost.wait()
            self._recorder_is_lost.clear()
            self.recorder_restarts += 1
            await tell("recorder_lost")
            while not await self._restart_recorder():
                pass
            await tell("recorder_started", pid=self._kit.recorder.pid)

    async def _restart_recorder(self) -> bool:
        """One try, when it is time for it."""
        clock = self._kit.epochs.clock
        at = self._recorder_backoff.failed(clock.monotonic())
        if self._recorder_backoff.is_held and "recorder" not in self.alerts:
            self.alerts["recorder"] = "the recorder keeps ending; the next try is in five minutes (see `visor logs`)"
            await self._kit.epochs.chronicle.tell("alert", what=self.alerts["recorder"])
        await clock.sleep(max(0.0, at - clock.monotonic()))
        try:
            await self._kit.recorder.start()
        except VisorError as error:
            log.error("the recorder did not start: %s", error)
            return False
        self._recorder_backoff.worked()
        self.alerts.pop("recorder", None)
        return True

    async def _close_orphans(self) -> None:
        """Panes whose server ended while no daemon ran, and closed epochs whose text is not finished."""
        epochs, store, left_open = self._kit.epochs, self._kit.epochs.store, self._kit.left_open
        for epoch in await store.output.unfinished_epochs():
            epochs.text.open(epoch)
        for epoch in await store.output.open_epochs():
            left_open.setdefault(epoch.pane, []).append(epoch)
        is_alive = {pane.id: _is_alive(pane.instance.server) for pane in await store.panes.all()}
        for orphan in [pane for pane in left_open if not is_alive.get(pane, False)]:
            for epoch in left_open.pop(orphan):
                await self._close_orphan(epoch)
        for gone in [pane for pane, alive in is_alive.items() if not alive]:
            await store.panes.gone(gone, epochs.clock.now())
            await epochs.chronicle.tell("pane_gone", gone)

    async def _close_orphan(self, epoch: Epoch) -> None:
        epochs, recorder = self._kit.epochs, self._kit.recorder
        was_heard = await epochs.resume(epoch, is_held=epoch.id in recorder.streams)
        since = epochs.last_at(epoch)
        await epochs.end(epoch, "server_gone" if was_heard else "joined", epochs.size(epoch), since=since)
        recorder.drop(epoch.id)
        recorder.forget(epoch.id)

    async def _is_stopping_within(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stopping.wait()
        except TimeoutError:
            return False


def _is_alive(server: ServerInstance) -> bool:
    return started(server.pid) == server.started

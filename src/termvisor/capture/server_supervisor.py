"""Finds the tmux servers of this user, keeps a watch on each, and keeps the recorder alive."""

import asyncio
import contextlib

from termvisor.backends.tmux.server_sockets import answers, candidates, named
from termvisor.capture.recorder_client import Grew, Lost, News
from termvisor.capture.retry import Attempts
from termvisor.capture.server_watcher import Kit, ServerWatch
from termvisor.errors import MuxError, VisorError
from termvisor.log import logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import ServerInstance
from termvisor.model.terminal.target import LOCAL
from termvisor.settings import Places, Settings
from termvisor.system.process_start import started
from termvisor.system.subprocesses import is_installed

_SCAN_FOR = 1.0
_FIRST_LOOK_FOR = 3.0
log = logger("lookout")


class Lookout:
    def __init__(self, kit: Kit, places: Places):
        self._kit, self._places = kit, places
        self._recorder_is_lost = asyncio.Event()
        self._recorder = self._attempts("recorder", "the recorder keeps ending")
        self._stopping = asyncio.Event()
        self._keeps_pipes = False
        self.watches: dict[str, ServerWatch] = {}
        self.has_looked = asyncio.Event()
        self._watched: dict[str, Attempts] = {}
        """Of servers whose watch failed: when they are watched again."""
        self.recorder_restarts = self.watch_restarts = 0

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

    def place_of(self, pane: PaneId) -> tuple[ServerWatch, MuxPaneId] | None:
        """Which watch sees a pane, and what its server calls it; None when it is not there."""
        for watch in self.watches.values():
            for mux_id, known in watch.known.items():
                if known.id == pane:
                    return watch, mux_id
        return None

    def take_over(self, settings: Settings) -> None:
        """From now on these settings hold; servers that they no longer name are left."""
        self._kit.settings = settings
        wanted = candidates(self._places, settings)
        for socket, watch in self.watches.items():
            if settings.tmux_sockets is not None and socket not in wanted:
                watch.stop(keep_pipes=False)

    @property
    def alerts(self) -> dict[str, str]:
        return self._kit.epochs.chronicle.alerts

    def unwatched(self) -> list[ServerHealth]:
        """Servers that the settings name and that are not watched."""
        return [
            ServerHealth(
                target=LOCAL.name, socket=socket, mux_ok=False, client="none", panes=0, detail="nobody listens there"
            )
            for socket in named(self._kit.settings)
            if socket not in self.watches
        ]

    @property
    def restarts(self) -> dict[str, int]:
        """How often each kind of thing had to be started again."""
        clients = sum(watch.control_restarts for watch in self.watches.values())
        return {"recorder": self.recorder_restarts, "watch": self.watch_restarts, "control_client": clients}

    @property
    def forks(self) -> int:
        """Programs started by us since the daemon began."""
        return self._kit.forks

    async def run(self) -> None:
        await self._close_orphans()
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(self._keep_recorder())
            self._find(group)
            await self._judge()
            looking = group.create_task(self._first_look())
            while not await self._is_stopping_within(_SCAN_FOR):
                self._find(group)
                await self._judge()
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
            is_due = socket not in self._watched or self._watched[socket].is_due
            if socket not in self.watches and is_due and answers(socket):
                watch = self.watches[socket] = ServerWatch(socket, self._kit)
                group.create_task(self._watch(watch))

    async def _judge(self) -> None:
        """Is what was held down in order again, or gone?"""
        for socket, attempts in self._watched.items():
            watch = self.watches.get(socket)
            if watch is None and not answers(socket):
                await attempts.over()
            elif watch is not None and watch.is_looking:
                await attempts.worked()
        await self._judge_program()

    async def _judge_program(self) -> None:
        """Without a tmux nothing can be watched; once it is there, nobody waits any longer."""
        program, chronicle = self._kit.settings.tmux_program, self._kit.epochs.chronicle
        if not is_installed(program):
            await chronicle.alert("tmux", missing(program))
        elif "tmux" in chronicle.alerts:
            await chronicle.all_clear("tmux")
            for attempts in self._watched.values():
                await attempts.over()
            self._watched.clear()

    async def _watch(self, watch: ServerWatch) -> None:
        try:
            await watch.run()
        except MuxError as error:
            log.warning("%s is not watched: %s", watch.socket, error)
            await self._failed(watch, str(error))
        except Exception as error:  # the task supervisor: one server's trouble ends no other watch
            log.exception("the watch on %s failed", watch.socket)
            await self._failed(watch, type(error).__name__)
        finally:
            watch.has_looked.set()
            del self.watches[watch.socket]

    async def _failed(self, watch: ServerWatch, why: str) -> None:
        """It is tried again soon, and goes on with the epochs that are still open."""
        self.watch_restarts += 1
        if watch.socket not in self._watched:
            self._watched[watch.socket] = self._attempts(
                f"watch:{watch.socket}", f"watching {watch.socket} keeps failing"
            )
        await self._watched[watch.socket].failed(why)
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
        await self._recorder.failed()
        await self._recorder.wait()
        try:
            await self._kit.recorder.start()
        except VisorError as error:
            log.error("the recorder did not start: %s", error)
            return False
        await self._recorder.worked()
        return True

    def _attempts(self, about: str, what: str) -> Attempts:
        return Attempts(about, what, self._kit.epochs.chronicle, self._kit.epochs.clock)

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


def missing(program: str) -> str:
    """What to say where there is no tmux."""
    return (
        f"tmux is missing: there is no program {program!r}. Install it (`sudo apt-get install tmux`), or name it in the"
        " setting tmux_program"
    )


def _is_alive(server: ServerInstance) -> bool:
    return started(server.pid) == server.started

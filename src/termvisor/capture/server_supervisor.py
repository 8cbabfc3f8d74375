"""Finds the tmux servers of this user, keeps a watch on each, and keeps the recorder alive."""

import asyncio
import contextlib

from termvisor.backends.tmux.server_sockets import is_server_listening, list_candidate_sockets, list_configured_sockets
from termvisor.capture.recorder_client import RecorderDied, RecorderUpdate, StreamGrew
from termvisor.capture.retry import AlertingRetry
from termvisor.capture.server_watcher import ServerWatcher, WatcherDependencies
from termvisor.errors import MuxError, VisorError
from termvisor.log import get_logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import ServerInstance
from termvisor.model.terminal.target import LOCAL
from termvisor.settings import Paths, Settings
from termvisor.system.process_start import read_start_time
from termvisor.system.subprocesses import is_installed

_SCAN_INTERVAL_S = 1.0
_FIRST_LISTING_TIMEOUT_S = 3.0
log = get_logger("lookout")


class ServerSupervisor:
    def __init__(self, dependencies: WatcherDependencies, paths: Paths):
        self._dependencies, self._paths = dependencies, paths
        self._recorder_died = asyncio.Event()
        self._recorder_retry = self._build_retry("recorder", "the recorder keeps ending")
        self._stop_requested = asyncio.Event()
        self._keep_pipes = False
        self.watchers: dict[str, ServerWatcher] = {}
        self.first_scan_done = asyncio.Event()
        self._retries_by_socket: dict[str, AlertingRetry] = {}
        """Of servers whose watch failed: when they are watched again."""
        self.recorder_restarts = self.watcher_restarts = 0

    def handle_recorder_update(self, update: RecorderUpdate) -> None:
        """The recorder's news, on the event loop."""
        if isinstance(update, StreamGrew):
            self._dependencies.epochs.pipeline.note_growth(update.epoch, update.size)
        else:
            for watch in self.watchers.values():
                watch.post(update)
            if isinstance(update, RecorderDied) and not self._stop_requested.is_set():
                self._recorder_died.set()

    def stop(self, *, keep_pipes: bool = False) -> None:
        """Leave all servers; with ``keep_pipes`` the recorder goes on for a later daemon."""
        self._keep_pipes = keep_pipes
        self._stop_requested.set()

    def locate_pane(self, pane: PaneId) -> tuple[ServerWatcher, MuxPaneId] | None:
        """Which watch sees a pane, and what its server calls it; None when it is not there."""
        for watch in self.watchers.values():
            for mux_id, known in watch.known_panes.items():
                if known.id == pane:
                    return watch, mux_id
        return None

    def apply_settings(self, settings: Settings) -> None:
        """From now on these settings hold; servers that they no longer name are left."""
        self._dependencies.settings = settings
        wanted = list_candidate_sockets(self._paths, settings)
        for socket, watch in self.watchers.items():
            if settings.tmux_sockets is not None and socket not in wanted:
                watch.stop(keep_pipes=False)

    @property
    def alerts(self) -> dict[str, str]:
        return self._dependencies.epochs.event_log.alerts

    def list_unwatched_servers(self) -> list[ServerHealth]:
        """Servers that the settings name and that are not watched."""
        return [
            ServerHealth(
                target=LOCAL.name, socket=socket, mux_ok=False, client="none", panes=0, detail="nobody listens there"
            )
            for socket in list_configured_sockets(self._dependencies.settings)
            if socket not in self.watchers
        ]

    @property
    def restart_counts(self) -> dict[str, int]:
        """How often each kind of thing had to be started again."""
        clients = sum(watch.control_restarts for watch in self.watchers.values())
        return {"recorder": self.recorder_restarts, "watch": self.watcher_restarts, "control_client": clients}

    @property
    def fork_count(self) -> int:
        """Programs started by us since the daemon began."""
        return self._dependencies.fork_count

    async def run(self) -> None:
        await self._close_orphaned_panes()
        async with asyncio.TaskGroup() as group:
            keeper = group.create_task(self._keep_recorder_running())
            self._start_watchers(group)
            await self._update_alerts()
            looking = group.create_task(self._wait_for_first_listings())
            while not await self._wait_for_stop(_SCAN_INTERVAL_S):
                self._start_watchers(group)
                await self._update_alerts()
            looking.cancel()
            for watch in self.watchers.values():
                watch.stop(keep_pipes=self._keep_pipes)
            keeper.cancel()

    async def _wait_for_first_listings(self) -> None:
        """A server that does not answer holds up the first answer only for a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_LISTING_TIMEOUT_S):
                for watch in list(self.watchers.values()):
                    await watch.first_listing_done.wait()
        self.first_scan_done.set()

    def _start_watchers(self, group: asyncio.TaskGroup) -> None:
        for socket in list_candidate_sockets(self._paths, self._dependencies.settings):
            is_due = socket not in self._retries_by_socket or self._retries_by_socket[socket].is_due
            if socket not in self.watchers and is_due and is_server_listening(socket):
                watch = self.watchers[socket] = ServerWatcher(socket, self._dependencies)
                group.create_task(self._run_watcher(watch))

    async def _update_alerts(self) -> None:
        """Is what was held down in order again, or gone?"""
        for socket, attempts in self._retries_by_socket.items():
            watch = self.watchers.get(socket)
            if watch is None and not is_server_listening(socket):
                await attempts.clear_alert()
            elif watch is not None and watch.is_watching:
                await attempts.record_success()
        await self._check_tmux_installed()

    async def _check_tmux_installed(self) -> None:
        """Without a tmux nothing can be watched; once it is there, nobody waits any longer."""
        program, chronicle = self._dependencies.settings.tmux_program, self._dependencies.epochs.event_log
        if not is_installed(program):
            await chronicle.raise_alert("tmux", describe_missing_tmux(program))
        elif "tmux" in chronicle.alerts:
            await chronicle.clear_alert("tmux")
            for attempts in self._retries_by_socket.values():
                await attempts.clear_alert()
            self._retries_by_socket.clear()

    async def _run_watcher(self, watcher: ServerWatcher) -> None:
        try:
            await watcher.run()
        except MuxError as error:
            log.warning("%s is not watched: %s", watcher.socket, error)
            await self._handle_watcher_failure(watcher, str(error))
        except Exception as error:  # the task supervisor: one server's trouble ends no other watch
            log.exception("the watch on %s failed", watcher.socket)
            await self._handle_watcher_failure(watcher, type(error).__name__)
        finally:
            watcher.first_listing_done.set()
            del self.watchers[watcher.socket]

    async def _handle_watcher_failure(self, watcher: ServerWatcher, reason: str) -> None:
        """It is tried again soon, and goes on with the epochs that are still open."""
        self.watcher_restarts += 1
        if watcher.socket not in self._retries_by_socket:
            self._retries_by_socket[watcher.socket] = self._build_retry(
                f"watch:{watcher.socket}", f"watching {watcher.socket} keeps failing"
            )
        await self._retries_by_socket[watcher.socket].record_failure(reason)
        await watcher.abandon_server()
        mine = {known.id for known in watcher.known_panes.values()}
        for epoch in await self._dependencies.epochs.store.output.list_open_epochs():
            if epoch.pane in mine:
                self._dependencies.resumable_epochs.setdefault(epoch.pane, []).append(epoch)

    async def _keep_recorder_running(self) -> None:
        tell = self._dependencies.epochs.event_log.emit
        while True:
            await self._recorder_died.wait()
            self._recorder_died.clear()
            self.recorder_restarts += 1
            await tell("recorder_lost")
            while not await self._restart_recorder():
                pass
            await tell("recorder_started", pid=self._dependencies.recorder.pid)

    async def _restart_recorder(self) -> bool:
        """One try, when it is time for it."""
        await self._recorder_retry.record_failure()
        await self._recorder_retry.wait_until_due()
        try:
            await self._dependencies.recorder.start()
        except VisorError as error:
            log.error("the recorder did not start: %s", error)
            return False
        await self._recorder_retry.record_success()
        return True

    def _build_retry(self, alert_key: str, description: str) -> AlertingRetry:
        return AlertingRetry(
            alert_key, description, self._dependencies.epochs.event_log, self._dependencies.epochs.clock
        )

    async def _close_orphaned_panes(self) -> None:
        """Panes whose server ended while no daemon ran, and closed epochs whose text is not finished."""
        epochs, store, left_open = (
            self._dependencies.epochs,
            self._dependencies.epochs.store,
            self._dependencies.resumable_epochs,
        )
        for epoch in await store.output.list_unfinished_epochs():
            epochs.pipeline.open_epoch(epoch)
        for epoch in await store.output.list_open_epochs():
            left_open.setdefault(epoch.pane, []).append(epoch)
        is_alive = {pane.id: _is_server_alive(pane.instance.server) for pane in await store.panes.list_panes()}
        for orphan in [pane for pane in left_open if not is_alive.get(pane, False)]:
            for epoch in left_open.pop(orphan):
                await self._close_orphaned_epoch(epoch)
        for gone in [pane for pane, alive in is_alive.items() if not alive]:
            await store.panes.mark_gone(gone, epochs.clock.now())
            await epochs.event_log.emit("pane_gone", gone)

    async def _close_orphaned_epoch(self, epoch: Epoch) -> None:
        epochs, recorder = self._dependencies.epochs, self._dependencies.recorder
        was_heard = await epochs.resume_epoch(epoch, is_stream_open=epoch.id in recorder.streams)
        since = epochs.find_last_byte_time(epoch)
        await epochs.end_epoch(
            epoch, "server_gone" if was_heard else "joined", epochs.measure_size(epoch), missed_since=since
        )
        recorder.drop_stream(epoch.id)
        recorder.forget_stream(epoch.id)

    async def _wait_for_stop(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stop_requested.wait()
        except TimeoutError:
            return False


def describe_missing_tmux(program: str) -> str:
    """What to say where there is no tmux."""
    return (
        f"tmux is missing: there is no program {program!r}. Install it (`sudo apt-get install tmux`), or name it in the"
        " setting tmux_program"
    )


def _is_server_alive(server: ServerInstance) -> bool:
    return read_start_time(server.pid) == server.started

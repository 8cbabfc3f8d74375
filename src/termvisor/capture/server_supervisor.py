"""Discover the user's tmux servers, run one watcher for each, and restart the recorder when it dies."""

import asyncio
import contextlib

from termvisor.backends.tmux.server_sockets import is_server_listening, list_candidate_sockets, list_configured_sockets
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import AlertingRetry
from termvisor.capture.recorder_client import RecorderClient, RecorderDied, RecorderUpdate
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.errors import MuxError, VisorError
from termvisor.log import get_logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import ServerInstance
from termvisor.model.terminal.target import LOCAL
from termvisor.settings import Paths, Settings
from termvisor.system.inotify import ARRIVAL_EVENTS, FolderChange, Inotify
from termvisor.system.procfs import read_start_time
from termvisor.system.subprocesses import is_installed

_SCAN_INTERVAL_S = 1.0
_TERMINALS_FOLDER = "/dev/pts"
# Maximum delay of the daemon's first answers by a server that does not answer.
_FIRST_LISTING_TIMEOUT_S = 3.0
log = get_logger("capture.servers")


class ServerSupervisor:
    """Owner of the watchers of all servers; passes the recorder's updates (except growth) on to them."""

    def __init__(self, paths: Paths, settings: Settings, *, epochs: EpochLifecycle, recorder: RecorderClient):
        self._paths, self._settings, self._epochs, self._recorder = paths, settings, epochs, recorder
        recorder.on_update = self._handle_recorder_update
        self._resumable_epochs: dict[PaneId, list[Epoch]] = {}
        """Epochs that an earlier daemon or a failed watcher left open, oldest first."""
        self._recorder_died = asyncio.Event()
        self._recorder_retry = AlertingRetry("recorder", "the recorder keeps exiting", epochs.event_log)
        self._stop_requested = asyncio.Event()
        self._keep_pipes = False
        self.watchers: dict[str, ServerWatcher] = {}
        self.first_scan_done = asyncio.Event()
        self._retries_by_socket: dict[str, AlertingRetry] = {}
        self.recorder_restarts = self.watcher_restarts = 0
        self.fork_count = 0
        """Number of programs started for capturing since the daemon started."""

    def _handle_recorder_update(self, update: RecorderUpdate) -> None:
        for watcher in self.watchers.values():
            watcher.post(update)
        if isinstance(update, RecorderDied) and not self._stop_requested.is_set():
            self._recorder_died.set()

    def stop(self, *, keep_pipes: bool = False) -> None:
        """Stop all watchers; with ``keep_pipes`` the recorder keeps capturing for the next daemon."""
        self._keep_pipes = keep_pipes
        self._stop_requested.set()

    def locate_pane(self, pane: PaneId) -> tuple[ServerWatcher, MuxPaneId] | None:
        """Return the watcher of a pane and the pane's tmux id, or None if no server has the pane."""
        for watcher in self.watchers.values():
            for mux_id, known in watcher.known_panes.items():
                if known.id == pane:
                    return watcher, mux_id
        return None

    def apply_settings(self, settings: Settings) -> None:
        """Apply new settings and stop watching servers that they no longer name."""
        self._settings = settings
        sockets = list_candidate_sockets(self._paths, settings)
        for socket, watcher in self.watchers.items():
            if settings.tmux_sockets is not None and socket not in sockets:
                watcher.stop(keep_pipes=False)

    @property
    def alerts(self) -> dict[str, str]:
        return self._epochs.event_log.alerts

    def list_unwatched_servers(self) -> list[ServerHealth]:
        """Return the servers that are named in the settings but not running."""
        return [
            ServerHealth(
                target=LOCAL.name, socket=socket, mux_ok=False, client="none", panes=0, detail="no server is running"
            )
            for socket in list_configured_sockets(self._settings)
            if socket not in self.watchers
        ]

    @property
    def restart_counts(self) -> dict[str, int]:
        """Count the restarts of the recorder and of the watchers."""
        return {"recorder": self.recorder_restarts, "watch": self.watcher_restarts}

    def _count_fork(self) -> None:
        self.fork_count += 1

    async def run(self) -> None:
        await self._close_orphaned_panes()
        async with asyncio.TaskGroup() as group:
            recorder_task = group.create_task(self._keep_recorder_running())
            terminals = self._watch_terminals()
            self._start_watchers(group)
            await self._update_alerts()
            first_scan = group.create_task(self._wait_for_first_listings())
            while not await self._wait_for_stop(_SCAN_INTERVAL_S):
                self._start_watchers(group)
                await self._update_alerts()
            first_scan.cancel()
            for watcher in self.watchers.values():
                watcher.stop(keep_pipes=self._keep_pipes)
            recorder_task.cancel()
        if terminals is not None:
            terminals.close()

    def _watch_terminals(self) -> Inotify | None:
        """Let every watcher look at its server when a terminal is created, instead of at its next poll."""
        # No inotify, or no terminals there: the watchers poll.
        with contextlib.suppress(OSError):
            terminals = Inotify()
            try:
                terminals.watch_folder(_TERMINALS_FOLDER, ARRIVAL_EVENTS, self._note_terminal)
            except OSError:
                terminals.close()
                raise
            return terminals
        return None

    def _note_terminal(self, _change: FolderChange) -> None:
        for watcher in self.watchers.values():
            watcher.note_terminal_created()

    async def _wait_for_first_listings(self) -> None:
        # A server that hangs must not keep the others from being watched.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FIRST_LISTING_TIMEOUT_S):
                for watcher in list(self.watchers.values()):
                    await watcher.first_listing_done.wait()
                # Without this, the first action would be refused, because the pane's state is not proven yet.
                for watcher in list(self.watchers.values()):
                    await watcher.first_capture_done.wait()
        self.first_scan_done.set()

    async def refresh_panes(self) -> None:
        """List the panes of all servers now: a pane that was just closed is noticed only at the next look."""
        for watcher in [watcher for watcher in self.watchers.values() if watcher.is_watching]:
            await watcher.list_now(_FIRST_LISTING_TIMEOUT_S)

    def _start_watchers(self, group: asyncio.TaskGroup) -> None:
        for socket in list_candidate_sockets(self._paths, self._settings):
            is_due = socket not in self._retries_by_socket or self._retries_by_socket[socket].is_due
            if socket not in self.watchers and is_due and is_server_listening(socket):
                self.watchers[socket] = self.build_watcher(socket)
                group.create_task(self._run_watcher(self.watchers[socket]))

    def build_watcher(self, socket: str) -> ServerWatcher:
        return ServerWatcher(
            socket,
            epochs=self._epochs,
            recorder=self._recorder,
            get_settings=lambda: self._settings,
            resumable_epochs=self._resumable_epochs,
            count_fork=self._count_fork,
        )

    async def _update_alerts(self) -> None:
        """Clear the alerts of servers that are watched again or gone."""
        for socket, retry in self._retries_by_socket.items():
            watcher = self.watchers.get(socket)
            if watcher is None and not is_server_listening(socket):
                await retry.clear_alert()
            elif watcher is not None and watcher.is_watching:
                await retry.record_success()
        await self._check_tmux_installed()

    async def _check_tmux_installed(self) -> None:
        """Raise an alert while tmux is missing. Once it is installed, retry all servers immediately."""
        program, event_log = self._settings.tmux_program, self._epochs.event_log
        if not is_installed(program):
            await event_log.raise_alert("tmux", describe_missing_tmux(program))
        elif "tmux" in event_log.alerts:
            await event_log.clear_alert("tmux")
            for retry in self._retries_by_socket.values():
                await retry.clear_alert()
            self._retries_by_socket.clear()

    async def _run_watcher(self, watcher: ServerWatcher) -> None:
        try:
            await watcher.run()
        except MuxError as error:
            # tmux did not answer or exited. That is expected, so log no traceback.
            log.warning("cannot watch %s: %s", watcher.socket, error)
            await self._handle_watcher_failure(watcher, str(error))
        except Exception as error:
            # A bug that affects one server must not end the watchers of the others.
            log.exception("the watcher of %s failed", watcher.socket)
            await self._handle_watcher_failure(watcher, type(error).__name__)
        finally:
            watcher.first_listing_done.set()
            watcher.first_capture_done.set()
            del self.watchers[watcher.socket]

    async def _handle_watcher_failure(self, watcher: ServerWatcher, reason: str) -> None:
        """Schedule a restart of the watcher and keep its open epochs for the next one."""
        self.watcher_restarts += 1
        if watcher.socket not in self._retries_by_socket:
            description = f"watching {watcher.socket} keeps failing"
            retry = AlertingRetry(f"watch:{watcher.socket}", description, self._epochs.event_log)
            self._retries_by_socket[watcher.socket] = retry
        await self._retries_by_socket[watcher.socket].record_failure(reason)
        await watcher.abandon_server()
        panes = {known.id for known in watcher.known_panes.values()}
        for epoch in await self._epochs.store.output.list_open_epochs():
            if epoch.pane in panes:
                self._resumable_epochs.setdefault(epoch.pane, []).append(epoch)

    async def _keep_recorder_running(self) -> None:
        emit = self._epochs.event_log.emit
        while True:
            await self._recorder_died.wait()
            self._recorder_died.clear()
            self.recorder_restarts += 1
            await emit("recorder_lost")
            while not await self._restart_recorder():
                pass
            await emit("recorder_started", pid=self._recorder.pid)

    async def _restart_recorder(self) -> bool:
        """Wait for the next retry time and start the recorder; return False if that failed."""
        await self._recorder_retry.record_failure()
        await self._recorder_retry.wait_until_due()
        try:
            await self._recorder.start()
        except VisorError as error:
            # Often a full disk. Retry until it works, because without a recorder nothing is captured.
            log.error("cannot start the recorder: %s", error)
            return False
        await self._recorder_retry.record_success()
        return True

    async def _close_orphaned_panes(self) -> None:
        """Close the panes whose server exited while no daemon was running, and decode the rest of closed epochs."""
        epochs, store, open_epochs = self._epochs, self._epochs.store, self._resumable_epochs
        unfinished = await store.output.list_unfinished_epochs()
        for epoch in unfinished:
            epochs.pipeline.open_epoch(epoch)
        for epoch in await store.output.list_open_epochs():
            open_epochs.setdefault(epoch.pane, []).append(epoch)
        left_open = [epoch for pane_epochs in open_epochs.values() for epoch in pane_epochs]
        epochs.pipeline.discard_other_epochs(frozenset(epoch.id for epoch in [*unfinished, *left_open]))
        is_alive = {pane.id: _is_server_alive(pane.instance.server) for pane in await store.panes.list_panes()}
        for orphan in [pane for pane in open_epochs if not is_alive.get(pane, False)]:
            for epoch in open_epochs.pop(orphan):
                await self._close_orphaned_epoch(epoch)
        for gone in [pane for pane, alive in is_alive.items() if not alive]:
            await store.panes.mark_gone(gone, epochs.clock.now())
            await epochs.event_log.emit("pane_gone", gone)

    async def _close_orphaned_epoch(self, epoch: Epoch) -> None:
        epochs, recorder = self._epochs, self._recorder
        was_captured = await epochs.resume_epoch(epoch, is_stream_open=epoch.id in recorder.streams)
        await epochs.end_epoch(epoch, "server_gone" if was_captured else "joined", epochs.measure_size(epoch))
        recorder.drop_stream(epoch.id)
        recorder.forget_stream(epoch.id)

    async def _wait_for_stop(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                return await self._stop_requested.wait()
        except TimeoutError:
            return False


def describe_missing_tmux(program: str) -> str:
    """Return the alert text for a tmux program that is not installed."""
    return (
        f"tmux is missing: program {program!r} not found. Install it (`sudo apt-get install tmux`), or set its path in"
        " tmux_program"
    )


def _is_server_alive(server: ServerInstance) -> bool:
    return read_start_time(server.pid) == server.started

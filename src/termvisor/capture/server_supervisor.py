"""Discover the servers of all backends, run one watcher for each, and restart the recorder when it dies."""

import asyncio
import contextlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from termvisor.backends.backend import Backend, ForkCounter, OwnServerBackend
from termvisor.backends.transport import Transport
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import AlertingRetry
from termvisor.capture.recorder_client import RecorderClient, RecorderDied, RecorderUpdate
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.errors import MuxError, VisorError
from termvisor.log import get_logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId, TargetName
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import ServerInstance
from termvisor.model.terminal.target import ServerKey
from termvisor.settings import Settings

_SCAN_INTERVAL_S = 1.0
# Maximum delay of the daemon's first answers by a server that does not answer.
_FIRST_LISTING_TIMEOUT_S = 3.0
_START_POLL_S = 0.01
log = get_logger("capture.servers")


class _FailedServer(Struct):
    """A server whose watcher failed, and when it is tried again."""

    backend: Backend
    transport: Transport
    retry: AlertingRetry


class ServerSupervisor:
    """Owner of the watchers of all servers; passes the recorder's updates (except growth) on to them."""

    def __init__(
        self,
        settings: Settings,
        *,
        backends: Mapping[str, Backend],
        transports: Sequence[Transport],
        forks: ForkCounter,
        epochs: EpochLifecycle,
        recorder: RecorderClient,
    ):
        self.settings, self._epochs, self._recorder = settings, epochs, recorder
        self.backends, self._forks = backends, forks
        self._transports = {one.target.name: one for one in transports}
        recorder.on_update = self._handle_recorder_update
        self._resumable_epochs: dict[PaneId, list[Epoch]] = {}
        """Epochs that an earlier daemon or a failed watcher left open, oldest first."""
        self._recorder_died = asyncio.Event()
        self._recorder_retry = AlertingRetry("recorder", "the recorder keeps exiting", epochs.event_log)
        self._stop_requested, self._scan_requested = asyncio.Event(), asyncio.Event()
        self._keep_pipes = False
        self.watchers: dict[ServerKey, ServerWatcher] = {}
        self._named_servers: list[ServerKey] = []
        """The servers that the settings name, at the last scan."""
        self.first_scan_done = asyncio.Event()
        self._failed_servers: dict[ServerKey, _FailedServer] = {}
        self.recorder_restarts = self.watcher_restarts = 0

    def _handle_recorder_update(self, update: RecorderUpdate) -> None:
        for watcher in self.watchers.values():
            watcher.post(update)
        if isinstance(update, RecorderDied) and not self._stop_requested.is_set():
            self._recorder_died.set()

    def stop(self, *, keep_pipes: bool = False) -> None:
        """Stop all watchers; with ``keep_pipes`` the recorder keeps capturing for the next daemon."""
        self._keep_pipes = keep_pipes
        self._stop_requested.set()
        self._scan_requested.set()

    def locate_pane(self, pane: PaneId) -> tuple[ServerWatcher, MuxPaneId] | None:
        """Return the watcher of a pane and the pane's id there, or None if no server has the pane."""
        for watcher in self.watchers.values():
            for mux_id, known in watcher.known_panes.items():
                if known.id == pane:
                    return watcher, mux_id
        return None

    def apply_settings(self, settings: Settings) -> None:
        """Apply new settings; the next scan stops watching servers that they no longer name."""
        self.settings = settings

    @property
    def alerts(self) -> dict[str, str]:
        return self._epochs.event_log.alerts

    def list_unwatched_servers(self) -> list[ServerHealth]:
        """Return the servers that are named in the settings but not running."""
        return [
            ServerHealth(
                target=key.target,
                socket=key.address,
                mux_ok=False,
                client="none",
                panes=0,
                detail="no server is running",
            )
            for key in self._named_servers
            if key not in self.watchers
        ]

    @property
    def fork_count(self) -> int:
        """Number of programs started for capturing since the daemon started."""
        return self._forks.count

    @property
    def restart_counts(self) -> dict[str, int]:
        """Count the restarts of the recorder and of the watchers."""
        return {"recorder": self.recorder_restarts, "watch": self.watcher_restarts}

    async def run(self) -> None:
        await self._close_orphaned_panes()
        async with asyncio.TaskGroup() as group:
            recorder_task = group.create_task(self._keep_recorder_running())
            await self._scan_servers(group)
            await self._update_alerts()
            first_scan = group.create_task(self._wait_for_first_listings())
            while not await self._wait_for_scan(_SCAN_INTERVAL_S):
                await self._scan_servers(group)
                await self._update_alerts()
            first_scan.cancel()
            for watcher in self.watchers.values():
                watcher.stop(keep_pipes=self._keep_pipes)
            recorder_task.cancel()

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

    async def start_server(self, backend_name: str, target: TargetName) -> ServerWatcher | None:
        """Start the server of a backend that starts its own, and watch it; None if that is not possible.

        Raises Unavailable if the server does not start.
        """
        backend, transport = self.backends.get(backend_name), self._transports.get(target)
        if transport is None or not isinstance(backend, OwnServerBackend):
            return None
        if not await backend.start_server(transport):
            return None
        async with asyncio.timeout(_FIRST_LISTING_TIMEOUT_S):
            while True:
                for watcher in self.watchers.values():
                    if watcher.backend.name == backend_name and watcher.transport is transport:
                        await watcher.first_listing_done.wait()
                        return watcher
                self._scan_requested.set()
                await asyncio.sleep(_START_POLL_S)

    async def refresh_panes(self) -> None:
        """List the panes of all servers now: a pane that was just closed is noticed only at the next look."""
        for watcher in [watcher for watcher in self.watchers.values() if watcher.is_watching]:
            await watcher.list_now(_FIRST_LISTING_TIMEOUT_S)

    async def _scan_servers(self, group: asyncio.TaskGroup) -> None:
        """Start watching servers that were found, and stop watching those that the settings no longer name."""
        named_servers: list[ServerKey] = []
        for backend, transport in self.list_places():
            target = transport.target.name
            addresses = await backend.list_addresses(transport)
            named = await backend.list_named_addresses(transport)
            named_servers += [ServerKey(target, address) for address in named or ()]
            for watcher in self._list_watchers(backend, transport) if named is not None else ():
                if watcher.key.address not in addresses:
                    watcher.stop(keep_pipes=False)
            for key in [ServerKey(target, address) for address in addresses]:
                is_due = key not in self._failed_servers or self._failed_servers[key].retry.is_due
                if key not in self.watchers and is_due and await backend.is_listening(transport, key.address):
                    watcher = self.watchers[key] = self.build_watcher(key, backend, transport)
                    group.create_task(self._run_watcher(watcher))
        self._named_servers = named_servers

    def list_places(self) -> Iterator[tuple[Backend, Transport]]:
        """Yield each backend with each transport, where servers are looked for."""
        for backend in self.backends.values():
            for transport in self._transports.values():
                yield backend, transport

    def _list_watchers(self, backend: Backend, transport: Transport) -> list[ServerWatcher]:
        return [one for one in self.watchers.values() if one.backend is backend and one.transport is transport]

    def build_watcher(self, key: ServerKey, backend: Backend, transport: Transport) -> ServerWatcher:
        return ServerWatcher(
            key,
            backend=backend,
            transport=transport,
            epochs=self._epochs,
            recorder=self._recorder,
            get_settings=lambda: self.settings,
            resumable_epochs=self._resumable_epochs,
        )

    async def _update_alerts(self) -> None:
        """Clear the alerts of servers that are watched again or gone."""
        for key, failed in list(self._failed_servers.items()):
            watcher = self.watchers.get(key)
            if watcher is None and not await failed.backend.is_listening(failed.transport, key.address):
                await failed.retry.clear_alert()
            elif watcher is not None and watcher.is_watching:
                await failed.retry.record_success()
        await self._check_backends()

    async def _check_backends(self) -> None:
        """Raise an alert while a backend misses something. Once it is there, retry its servers immediately."""
        event_log = self._epochs.event_log
        for backend in self.backends.values():
            if reason := backend.explain_unavailable():
                await event_log.raise_alert(backend.name, reason)
            elif backend.name in event_log.alerts:
                await event_log.clear_alert(backend.name)
                for key in [key for key, failed in self._failed_servers.items() if failed.backend is backend]:
                    await self._failed_servers.pop(key).retry.clear_alert()

    async def _run_watcher(self, watcher: ServerWatcher) -> None:
        try:
            await watcher.run()
        except MuxError as error:
            # The server did not answer or exited. That is expected, so log no traceback.
            log.warning("cannot watch %s: %s", watcher.key.label, error)
            await self._handle_watcher_failure(watcher, str(error))
        except Exception as error:
            # A bug that affects one server must not end the watchers of the others.
            log.exception("the watcher of %s failed", watcher.key.label)
            await self._handle_watcher_failure(watcher, type(error).__name__)
        finally:
            watcher.first_listing_done.set()
            watcher.first_capture_done.set()
            del self.watchers[watcher.key]

    async def _handle_watcher_failure(self, watcher: ServerWatcher, reason: str) -> None:
        """Schedule a restart of the watcher and keep its open epochs for the next one."""
        self.watcher_restarts += 1
        if watcher.key not in self._failed_servers:
            description = f"watching {watcher.key.label} keeps failing"
            retry = AlertingRetry(f"watch:{watcher.key.label}", description, self._epochs.event_log)
            self._failed_servers[watcher.key] = _FailedServer(watcher.backend, watcher.transport, retry)
        await self._failed_servers[watcher.key].retry.record_failure(reason)
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
        is_alive = {pane.id: self._is_possibly_alive(pane.instance.server) for pane in await store.panes.list_panes()}
        for orphan in [pane for pane in open_epochs if not is_alive.get(pane, False)]:
            for epoch in open_epochs.pop(orphan):
                await self._close_orphaned_epoch(epoch)
        for gone in [pane for pane, alive in is_alive.items() if not alive]:
            await store.panes.mark_gone(gone, epochs.clock.now())
            await epochs.event_log.emit("pane_gone", gone)

    def _is_possibly_alive(self, server: ServerInstance) -> bool:
        """Return False if the process of a server has certainly exited: unknown is not dead."""
        backend, transport = self.backends.get(server.backend), self._transports.get(server.target)
        if backend is None or transport is None:
            return True
        return backend.is_server_alive(transport, server) is not False

    async def _close_orphaned_epoch(self, epoch: Epoch) -> None:
        epochs, recorder = self._epochs, self._recorder
        was_captured = await epochs.resume_epoch(epoch, is_stream_open=epoch.id in recorder.streams)
        await epochs.end_epoch(epoch, "server_gone" if was_captured else "joined", epochs.measure_size(epoch))
        recorder.drop_stream(epoch.id)
        recorder.forget_stream(epoch.id)

    async def _wait_for_scan(self, seconds: float) -> bool:
        """Wait until the next scan is due or requested; return True if the supervisor must stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._scan_requested.wait()
        self._scan_requested.clear()
        return self._stop_requested.is_set()

"""Watches one tmux server: who its panes are, every second, and how they are heard. One step after the other.

What comes in: notices of the control client, news of the recorder. What goes out: stored panes, events, epochs.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Struct, field

from termvisor.backends.pane_source import PaneStatus
from termvisor.backends.tmux.client import ControlClient, PlainClient, build_control_argv
from termvisor.backends.tmux.control_mode import ControlNotice
from termvisor.backends.tmux.misplaced_windows import move_misplaced_windows
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.capture.control_mode_capture import ControlCaptureConfig, ControlModeCapture
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.pane_capture import PaneCaptureController, PaneCaptureDependencies
from termvisor.capture.pane_diff import PaneChange, diff_listings
from termvisor.capture.recorder_client import RecorderClient, RecorderDied, StreamEnded, StreamOpened
from termvisor.capture.retry import AlertingRetry
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts, PaneInstance
from termvisor.settings import Settings

_BUSY_LISTING_INTERVAL_S = 2.0
_MAX_LISTING_INTERVAL_S = 60.0
"""Seconds that the time between two full listings grows to while nothing happens at all."""
_DRAIN_TIMEOUT_S = 4.0
_MISPLACED_WINDOW_NOTICES = ("window-add", "client-session-changed")
"""By which something may have come into our own session."""
_TOPOLOGY_NOTICE_PREFIXES = ("window", "unlinked-window", "session", "layout", "pane")
_CLIENT_NOTICE_PREFIX = "client-"
"""Somebody attached or left: whether the server ends without clients may matter now."""

T = TypeVar("T")
log = get_logger("watch")


class WatcherDependencies(Struct):
    """What every watch shares."""

    epochs: EpochLifecycle
    recorder: RecorderClient
    settings: Settings
    get_captured_bytes: Callable[[], int]
    """Bytes heard so far, of all panes: whether anything was printed since the last look."""
    resumable_epochs: dict[PaneId, list[Epoch]] = field(default_factory=dict)
    """Epochs that an earlier daemon left open, oldest first."""
    fork_count: int = 0
    """Programs we started."""

    def count_fork(self) -> None:
        self.fork_count += 1


class SessionNotice(Struct, frozen=True):
    session_id: str
    notice: ControlNotice


class KnownPane(Struct):
    id: PaneId
    facts: PaneFacts


InboxMessage = StreamOpened | StreamEnded | RecorderDied | ControlNotice | SessionNotice


class ServerWatcher:
    def __init__(self, socket: str, dependencies: WatcherDependencies):
        self.socket, self._dependencies = socket, dependencies
        self._plain_client = PlainClient(dependencies.settings.tmux_program, socket, dependencies.count_fork)
        self._inbox: deque[InboxMessage] = deque()
        self._wake = asyncio.Event()
        self._control_retry = AlertingRetry(
            f"control:{socket}",
            f"the control client of {socket} keeps ending",
            dependencies.epochs.event_log,
            dependencies.epochs.clock,
        )
        self._next_poll_at = self._next_listing_at = self._last_listing_at = 0.0
        self._listing_interval = dependencies.settings.full_interval
        self._captured_bytes_at_listing = 0
        self._is_server_gone = self._is_stopping = self._keep_pipes = False
        self.known_panes: dict[MuxPaneId, KnownPane] = {}
        self.first_listing_done = asyncio.Event()
        self.has_started = False
        self.detail = ""
        self.corrections = 0
        """Changes that nobody announced, found by reading everything again."""
        self._is_change_announced = True

    def post(self, item: InboxMessage) -> None:
        self._inbox.append(item)
        self._wake.set()

    def stop(self, *, keep_pipes: bool) -> None:
        self._is_stopping, self._keep_pipes = True, keep_pipes
        self._wake.set()

    async def run(self) -> None:
        """Until the server is gone, or we are asked to stop."""
        await self._start_watching()
        while not (self._is_server_gone or self._is_stopping):
            await self._process_inbox()
            if self._monotonic() >= self._next_poll_at:
                await self._poll_server()
            await self._call_server(self.captures.run_step)
            await self._wait_for_wake(max(0.0, self._next_poll_at - self._monotonic()))
        await (self._leave_server() if self._is_stopping else self._handle_server_gone())

    @property
    def health(self) -> ServerHealth:
        return ServerHealth(
            target=self.server.instance.target,
            socket=self.socket,
            mux_ok=not self._is_server_gone,
            client=self.server.client.kind,
            panes=len(self.known_panes),
            detail=self.detail,
            corrections=self.corrections,
        )

    @property
    def is_watching(self) -> bool:
        """Whether its first look went well and it goes on."""
        return self.first_listing_done.is_set() and self.has_started and not self._is_server_gone

    @property
    def control_restarts(self) -> int:
        return self._control_retry.failure_count

    def find_data_plane(self, mux_id: MuxPaneId) -> CaptureChannel:
        ear = self.captures.find_pane(mux_id) if self.first_listing_done.is_set() else None
        return "none" if ear is None else ear.data_plane

    async def _start_watching(self) -> None:
        self.server: TmuxServer = await identify_server(self._plain_client, self.socket)
        self._plain_client.server_pid = self.server.instance.pid
        kit = self._dependencies
        outputs = ControlModeCapture(
            kit.epochs,
            ControlCaptureConfig(kit.settings.tmux_program, kit.settings.segment_bytes),
            lambda s, n: self.post(SessionNotice(s, n)),
            kit.count_fork,
        )
        means = PaneCaptureDependencies(
            kit.epochs, kit.recorder, outputs, kit.resumable_epochs, lambda: kit.settings.baseline_lines
        )
        self.captures = PaneCaptureController(means, self.server)
        self.has_started = True
        for stored in await kit.epochs.store.panes.list_panes():
            if stored.instance.server == self.server.instance:
                self.known_panes[stored.instance.mux_id] = KnownPane(stored.id, stored.facts)
                await self.captures.adopt_pane(stored.id, stored.facts)
        await kit.epochs.event_log.emit("server_found", socket=self.socket, version=self.server.version)
        await self._attach_control_client()
        await self._call_server(self._refresh_panes)
        self.first_listing_done.set()

    async def _attach_control_client(self) -> None:
        """Go over to a control client, where that changes nothing for the server's people."""
        if self.server.exits_unattached or not self._control_retry.is_due:
            return
        self._dependencies.count_fork()
        try:
            self.server.client = await self._start_control_client()
            await self.server.leave_if_last()
        except MuxError as error:
            await self._drop_control_client(str(error))
            return
        self._next_listing_at = 0.0  # what nobody announced meanwhile
        await self._control_retry.record_success()

    async def _start_control_client(self) -> ControlClient:
        self.server.home_session = await self.server.choose_home_session(os.getpid())
        argv = build_control_argv(self._dependencies.settings.tmux_program, self.socket, self.server.home_session)
        client = ControlClient(argv, on_notice=self.post)
        try:
            await client.wait_until_attached()
            if (await identify_server(client, self.socket)).instance != self.server.instance:
                raise MuxError("another tmux server took over this socket")
        except MuxError:
            client.close()
            raise
        return client

    async def _drop_control_client(self, reason: str) -> None:
        """Go on with plain calls; another client is tried when it is time."""
        self._use_plain_client()
        log.info("%s: no control client: %s", self.socket, reason)
        await self._control_retry.record_failure(reason)

    def _use_plain_client(self) -> None:
        client, self.server.client = self.server.client, self._plain_client
        client.close()

    async def _process_inbox(self) -> None:
        while self._inbox:
            item = self._inbox.popleft()
            if isinstance(item, ControlNotice):
                await self._handle_notice(item)
            elif isinstance(item, SessionNotice):
                await self.captures.handle_control_notice(item.session_id, item.notice.name, item.notice.arguments)
            elif isinstance(item, RecorderDied):
                await self.captures.handle_recorder_death()
            else:
                await self._call_server(partial(self.captures.handle_stream_update, item))

    async def _handle_notice(self, notice: ControlNotice) -> None:
        if notice.name == "exit" and self.server.client is not self._plain_client:
            await self._drop_control_client("it ended")
            self._next_poll_at = 0.0
        elif notice.name == "sessions-changed" and self.server.client is not self._plain_client:
            await self._call_server(self.server.leave_if_last)
        elif notice.name in _MISPLACED_WINDOW_NOTICES and self.server.client is not self._plain_client:
            await self._call_server(partial(move_misplaced_windows, self.server))
        self._adjust_listing_interval(is_quiet=False)
        if notice.name.startswith((*_TOPOLOGY_NOTICE_PREFIXES, _CLIENT_NOTICE_PREFIX)):
            self._next_poll_at = self._next_listing_at = 0.0
            self._is_change_announced = self._is_change_announced or not notice.name.startswith(_CLIENT_NOTICE_PREFIX)

    async def _poll_server(self) -> None:
        now = self._monotonic()
        self._next_poll_at = now + self._dependencies.settings.thin_interval
        if self.server.client is self._plain_client:
            await self._attach_control_client()
        thin = await self._call_server(self.server.list_pane_statuses)
        if thin is None:
            return
        is_busy = (
            self._dependencies.get_captured_bytes() != self._captured_bytes_at_listing
            and now >= self._last_listing_at + _BUSY_LISTING_INTERVAL_S
        )
        if self._has_changed(thin):
            self._is_change_announced = True
        if self._is_change_announced or is_busy or now >= self._next_listing_at:
            await self._call_server(self._refresh_panes)

    def _has_changed(self, statuses: Mapping[MuxPaneId, PaneStatus]) -> bool:
        return statuses.keys() != self.known_panes.keys() or any(
            (statuses[name].pid, statuses[name].dead, statuses[name].piped)
            != (one.facts.pid, one.facts.dead, one.facts.piped)
            for name, one in self.known_panes.items()
        )

    async def _refresh_panes(self) -> None:
        is_quiet = (
            self._captured_bytes_at_listing == self._dependencies.get_captured_bytes() and not self._is_change_announced
        )
        self._last_listing_at, self._captured_bytes_at_listing = (
            self._monotonic(),
            self._dependencies.get_captured_bytes(),
        )
        self._next_listing_at = self._last_listing_at + self._listing_interval
        new = {facts.mux_id: facts for facts in await self.server.list_pane_facts()}
        old = {name: one.facts for name, one in self.known_panes.items()}
        changes = list(diff_listings(old, new))
        self.corrections += 0 if self._is_change_announced else len(changes)
        self._is_change_announced = False
        self._adjust_listing_interval(is_quiet=is_quiet and not changes)
        for change in changes:
            await self._apply_change(change, new)
        for name, facts in new.items():
            self.captures.update_facts(facts)
            await self._update_pane(self.known_panes[name], facts)
        await self._check_exit_unattached()

    async def _update_pane(self, known: KnownPane, facts: PaneFacts) -> None:
        if facts.width != known.facts.width:
            self._dependencies.epochs.pipeline.resize_pane(known.id, facts.width)
        if facts != known.facts:
            known.facts = facts
            await self._dependencies.epochs.store.panes.update(known.id, facts, self._now())

    def _adjust_listing_interval(self, *, is_quiet: bool) -> None:
        """While nothing happens, everything is read ever more seldom."""
        usual = self._dependencies.settings.full_interval
        self._listing_interval = (
            max(usual, min(_MAX_LISTING_INTERVAL_S, self._listing_interval * 2)) if is_quiet else usual
        )
        self._next_listing_at = self._last_listing_at + self._listing_interval

    async def _check_exit_unattached(self) -> None:
        """A server that ends with its last attached client must not be held by ours."""
        self.server.exits_unattached = (await identify_server(self.server.client, self.socket)).exits_unattached
        if self.server.exits_unattached and self.server.client is not self._plain_client:
            self._use_plain_client()

    async def _apply_change(self, change: PaneChange, new: dict[MuxPaneId, PaneFacts]) -> None:
        panes, tell = self._dependencies.epochs.store.panes, self._dependencies.epochs.event_log.emit
        if change.kind == "pane_appeared":
            facts = new[change.mux_id]
            instance = PaneInstance(self.server.instance, change.mux_id)
            pane, is_new = await panes.find_or_add(instance, facts, self._now())
            self.known_panes[change.mux_id] = KnownPane(pane, facts)
            await self.captures.adopt_pane(pane, facts)
            if is_new:
                await tell(change.kind, pane, **change.data)
        elif change.kind == "pane_gone":
            gone = self.known_panes.pop(change.mux_id)
            await self.captures.release_pane(change.mux_id)
            await panes.mark_gone(gone.id, self._now())
            await tell(change.kind, gone.id)
        else:  # whoever is told and looks must see it
            known = self.known_panes[change.mux_id]
            await self._update_pane(known, new[change.mux_id])
            await tell(change.kind, known.id, **change.data)

    async def _call_server(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Ask the server; when it does not answer, find out whether it is gone."""
        try:
            return await call()
        except MuxError as error:
            self.detail = str(error)
            if not self.captures.is_server_alive:
                self._is_server_gone = True
            elif self.server.client is not self._plain_client:
                await self._drop_control_client(str(error))
            return None

    async def _handle_server_gone(self) -> None:
        await self._release_server()
        await self.captures.release_all("server_gone")
        await self._drain_captures()
        for one in self.known_panes.values():
            await self._dependencies.epochs.store.panes.mark_gone(one.id, self._now())
            await self._dependencies.epochs.event_log.emit("pane_gone", one.id)
        self.known_panes.clear()
        await self._dependencies.epochs.event_log.emit("server_gone", socket=self.socket)

    async def _leave_server(self) -> None:
        await self.captures.stop(keep_pipes=self._keep_pipes)
        await self._drain_captures()
        await self._release_server()

    async def abandon_server(self) -> None:
        """After a failure of our own: let go of the server; what is open stays open for the next watch."""
        if self.has_started:
            await self.captures.abandon_captures()
            await self._release_server()

    async def _release_server(self) -> None:
        self._use_plain_client()
        await self._control_retry.clear_alert()
        await self.captures.clear_alert()

    async def _drain_captures(self) -> None:
        """What the recorder still reads of closed pipes belongs to their epochs."""
        until = self._monotonic() + _DRAIN_TIMEOUT_S
        while not self.captures.is_drained and self._monotonic() < until:
            await self._wait_for_wake(0.1)
            await self._process_inbox()
            await self.captures.run_step()

    async def _wait_for_wake(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()

    def _monotonic(self) -> float:
        return self._dependencies.epochs.clock.monotonic()

    def _now(self) -> int:
        return self._dependencies.epochs.clock.now()

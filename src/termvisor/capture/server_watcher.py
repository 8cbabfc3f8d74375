"""Watch one tmux server: list its panes, store their changes and drive the capture of their output.

In: notices from the control client and updates from the recorder. Out: stored panes, events and epochs.
Invariant: one task does all the work for a server, step by step.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from msgspec import Struct

from termvisor.backends.pane_source import PaneStatus
from termvisor.backends.tmux.client import ControlClient, PlainClient, build_control_argv
from termvisor.backends.tmux.control_mode import ControlNotice
from termvisor.backends.tmux.misplaced_windows import move_misplaced_windows
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.capture.control_mode_capture import ControlModeCapture
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.event_log import AlertingRetry
from termvisor.capture.pane_capture import PaneCaptureController
from termvisor.capture.pane_diff import PaneChange, diff_listings
from termvisor.capture.recorder_client import RecordedStream, RecorderClient, RecorderDied
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts, PaneInstance
from termvisor.settings import Settings

# Minimum interval between full listings while panes print: a title or command may change without a notice.
_BUSY_LISTING_INTERVAL_S = 2.0
# The interval between full listings doubles up to this while the server is quiet.
_MAX_LISTING_INTERVAL_S = 60.0
# Longer than the end-of-file timeout of a released pane, so that its stream is dropped and reported first.
_DRAIN_TIMEOUT_S = 4.0
_MISPLACED_WINDOW_NOTICES = ("window-add", "client-session-changed")
"""Notices after which one of the user's windows may be in our own session."""
_TOPOLOGY_NOTICE_PREFIXES = ("window", "unlinked-window", "session", "layout", "pane")
# A client attached or detached, so the server's exit-unattached option may matter now.
_CLIENT_NOTICE_PREFIX = "client-"

T = TypeVar("T")
log = get_logger("capture.servers")


class SessionNotice(Struct, frozen=True):
    """A notice from the control-mode capture client of a session."""

    session_id: str
    notice: ControlNotice


class KnownPane(Struct):
    id: PaneId
    facts: PaneFacts


InboxMessage = RecordedStream | RecorderDied | ControlNotice | SessionNotice


class ServerWatcher:
    """Watcher of the tmux server at ``socket``, until the server is gone or stop() is called.

    ``resumable_epochs`` are the epochs that an earlier daemon or watcher left open, by pane, oldest first.
    """

    def __init__(
        self,
        socket: str,
        *,
        epochs: EpochLifecycle,
        recorder: RecorderClient,
        get_settings: Callable[[], Settings],
        resumable_epochs: dict[PaneId, list[Epoch]],
        count_fork: Callable[[], None],
    ):
        self.socket, self._epochs, self._recorder = socket, epochs, recorder
        self._get_settings, self._resumable_epochs, self._count_fork = get_settings, resumable_epochs, count_fork
        self._plain_client = PlainClient(get_settings().tmux_program, socket, count_fork)
        self._inbox: deque[InboxMessage] = deque()
        self._wake = asyncio.Event()
        description = f"the control client of {socket} keeps exiting"
        self._control_retry = AlertingRetry(f"control:{socket}", description, epochs.event_log)
        self._next_poll_at = self._next_listing_at = self._last_listing_at = 0.0
        self._listing_interval = get_settings().full_interval
        self._captured_bytes_at_listing = 0
        self._is_server_gone = self._is_stopping = self._keep_pipes = False
        self.known_panes: dict[MuxPaneId, KnownPane] = {}
        self.first_listing_done = asyncio.Event()
        self.has_started = False
        self.detail = ""
        self.corrections = 0
        """Number of changes found by a full listing that no notice had announced."""
        self._is_change_announced = True

    def post(self, message: InboxMessage) -> None:
        """Queue a message for the watcher's task. Must be called on the event loop."""
        self._inbox.append(message)
        self._wake.set()

    def stop(self, *, keep_pipes: bool) -> None:
        self._is_stopping, self._keep_pipes = True, keep_pipes
        self._wake.set()

    async def run(self) -> None:
        """Watch until the server is gone or stop() is called.

        Raises MuxError if the server cannot be identified.
        """
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
        """Return True if the first listing succeeded and the server is still there."""
        return self.first_listing_done.is_set() and self.has_started and not self._is_server_gone

    @property
    def control_restarts(self) -> int:
        return self._control_retry.failure_count

    def find_data_plane(self, mux_id: MuxPaneId) -> CaptureChannel:
        capture = self.captures.find_pane(mux_id) if self.first_listing_done.is_set() else None
        return "none" if capture is None else capture.data_plane

    async def _start_watching(self) -> None:
        self.server: TmuxServer = await identify_server(self._plain_client, self.socket)
        self._plain_client.server_pid = self.server.instance.pid
        self.captures = self._build_captures()
        self.has_started = True
        for stored in await self._epochs.store.panes.list_panes():
            if stored.instance.server == self.server.instance:
                self.known_panes[stored.instance.mux_id] = KnownPane(stored.id, stored.facts)
                await self.captures.adopt_pane(stored.id, stored.facts)
        await self._epochs.event_log.emit("server_found", socket=self.socket, version=self.server.version)
        await self._attach_control_client()
        await self._call_server(self._refresh_panes)
        self.first_listing_done.set()

    def _build_captures(self) -> PaneCaptureController:
        settings = self._get_settings()
        control_capture = ControlModeCapture(
            self._epochs,
            program=settings.tmux_program,
            segment_bytes=settings.segment_bytes,
            on_notice=lambda session_id, notice: self.post(SessionNotice(session_id, notice)),
            count_fork=self._count_fork,
        )
        return PaneCaptureController(
            self.server,
            epochs=self._epochs,
            recorder=self._recorder,
            control_capture=control_capture,
            resumable_epochs=self._resumable_epochs,
            get_baseline_lines=lambda: self._get_settings().baseline_lines,
        )

    async def _attach_control_client(self) -> None:
        """Replace the plain client with a control client, unless the server exits with its last client."""
        if self.server.exits_unattached or not self._control_retry.is_due:
            return
        self._count_fork()
        try:
            self.server.client = await self._start_control_client()
            await self.server.leave_if_last()
        except MuxError as error:
            # Continue with the plain client, which merely costs more.
            await self._drop_control_client(str(error))
            return
        # Changes before the client attached were not announced.
        self._next_listing_at = 0.0
        await self._control_retry.record_success()

    async def _start_control_client(self) -> ControlClient:
        self.server.home_session = await self.server.choose_home_session(os.getpid())
        argv = build_control_argv(self._get_settings().tmux_program, self.socket, self.server.home_session)
        client = ControlClient(argv, on_notice=self.post)
        try:
            await client.wait_until_attached()
            if (await identify_server(client, self.socket)).instance != self.server.instance:
                raise MuxError("another tmux server took over this socket")
        except MuxError:
            # If the wrong server answers, do not leave a client attached to it either.
            client.close()
            raise
        return client

    async def _drop_control_client(self, reason: str) -> None:
        """Fall back to the plain client and schedule the next attempt to attach."""
        self._use_plain_client()
        log.info("%s: control client dropped: %s", self.socket, reason)
        await self._control_retry.record_failure(reason)

    def _use_plain_client(self) -> None:
        client, self.server.client = self.server.client, self._plain_client
        client.close()

    async def _process_inbox(self) -> None:
        while self._inbox:
            message = self._inbox.popleft()
            if isinstance(message, ControlNotice):
                await self._handle_notice(message)
            elif isinstance(message, SessionNotice):
                await self.captures.handle_control_notice(message.session_id, message.notice)
            elif isinstance(message, RecorderDied):
                await self.captures.handle_recorder_death()
            else:
                await self._call_server(partial(self.captures.handle_stream_update, message))

    async def _handle_notice(self, notice: ControlNotice) -> None:
        if notice.name == "exit" and self.server.client is not self._plain_client:
            await self._drop_control_client("it exited")
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
        self._next_poll_at = now + self._get_settings().thin_interval
        if self.server.client is self._plain_client:
            await self._attach_control_client()
        # tmux announces neither panes split or killed in other sessions nor respawned ones.
        statuses = await self._call_server(self.server.list_pane_statuses)
        if statuses is None:
            return
        has_output = self._epochs.pipeline.captured_bytes != self._captured_bytes_at_listing
        is_busy = has_output and now >= self._last_listing_at + _BUSY_LISTING_INTERVAL_S
        if self._has_changed(statuses):
            self._is_change_announced = True
        if self._is_change_announced or is_busy or now >= self._next_listing_at:
            await self._call_server(self._refresh_panes)

    def _has_changed(self, statuses: Mapping[MuxPaneId, PaneStatus]) -> bool:
        return statuses.keys() != self.known_panes.keys() or any(
            (statuses[mux_id].pid, statuses[mux_id].dead, statuses[mux_id].piped)
            != (known.facts.pid, known.facts.dead, known.facts.piped)
            for mux_id, known in self.known_panes.items()
        )

    async def _refresh_panes(self) -> None:
        captured_bytes = self._epochs.pipeline.captured_bytes
        is_quiet = captured_bytes == self._captured_bytes_at_listing and not self._is_change_announced
        self._last_listing_at, self._captured_bytes_at_listing = self._monotonic(), captured_bytes
        self._next_listing_at = self._last_listing_at + self._listing_interval
        new = {facts.mux_id: facts for facts in await self.server.list_pane_facts()}
        old = {mux_id: known.facts for mux_id, known in self.known_panes.items()}
        changes = list(diff_listings(old, new))
        self.corrections += 0 if self._is_change_announced else len(changes)
        self._is_change_announced = False
        self._adjust_listing_interval(is_quiet=is_quiet and not changes)
        for change in changes:
            await self._apply_change(change, new)
        for mux_id, facts in new.items():
            self.captures.update_facts(facts)
            await self._update_pane(self.known_panes[mux_id], facts)
        await self._check_exit_unattached()

    async def _update_pane(self, known: KnownPane, facts: PaneFacts) -> None:
        if facts.width != known.facts.width:
            self._epochs.pipeline.resize_pane(known.id, facts.width)
        if facts != known.facts:
            known.facts = facts
            await self._epochs.store.panes.update(known.id, facts, self._now())

    def _adjust_listing_interval(self, *, is_quiet: bool) -> None:
        """Double the interval of full listings while the server is quiet; reset it otherwise."""
        interval = self._get_settings().full_interval
        doubled = min(_MAX_LISTING_INTERVAL_S, self._listing_interval * 2)
        self._listing_interval = max(interval, doubled) if is_quiet else interval
        self._next_listing_at = self._last_listing_at + self._listing_interval

    async def _check_exit_unattached(self) -> None:
        """Detach if the server now exits with its last client: our client would keep it alive."""
        self.server.exits_unattached = (await identify_server(self.server.client, self.socket)).exits_unattached
        if self.server.exits_unattached and self.server.client is not self._plain_client:
            self._use_plain_client()

    async def _apply_change(self, change: PaneChange, new: dict[MuxPaneId, PaneFacts]) -> None:
        panes, emit = self._epochs.store.panes, self._epochs.event_log.emit
        if change.kind == "pane_appeared":
            facts = new[change.mux_id]
            instance = PaneInstance(self.server.instance, change.mux_id)
            pane, is_new = await panes.find_or_add(instance, facts, self._now())
            self.known_panes[change.mux_id] = KnownPane(pane, facts)
            await self.captures.adopt_pane(pane, facts)
            if is_new:
                await emit(change.kind, pane, **change.data)
        elif change.kind == "pane_gone":
            gone = self.known_panes.pop(change.mux_id)
            await self.captures.release_pane(change.mux_id)
            await panes.mark_gone(gone.id, self._now())
            await emit(change.kind, gone.id)
        else:
            # Store before emitting the event, so that its subscribers read the new facts.
            known = self.known_panes[change.mux_id]
            await self._update_pane(known, new[change.mux_id])
            await emit(change.kind, known.id, **change.data)

    async def _call_server(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Run a tmux call. If it fails, check whether the server is gone and return None."""
        try:
            return await call()
        except MuxError as error:
            # The error is the same for a dead server and a lost client, so check the server's process.
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
        for known in self.known_panes.values():
            await self._epochs.store.panes.mark_gone(known.id, self._now())
            await self._epochs.event_log.emit("pane_gone", known.id)
        self.known_panes.clear()
        await self._epochs.event_log.emit("server_gone", socket=self.socket)

    async def _leave_server(self) -> None:
        await self.captures.stop(keep_pipes=self._keep_pipes)
        await self._drain_captures()
        await self._release_server()

    async def abandon_server(self) -> None:
        """Release the server after an exception in run(), leaving epochs open for the next watcher."""
        if self.has_started:
            # Their epochs stay open until the next watcher resumes or closes them.
            await self.captures.control_capture.close_clients()
            await self._release_server()

    async def _release_server(self) -> None:
        self._use_plain_client()
        await self._control_retry.clear_alert()
        await self.captures.clear_alert()

    async def _drain_captures(self) -> None:
        """Wait, up to a time limit, until the recorder has read the last bytes of closed pipes."""
        deadline = self._monotonic() + _DRAIN_TIMEOUT_S
        while not self.captures.is_drained and self._monotonic() < deadline:
            await self._wait_for_wake(0.1)
            await self._process_inbox()
            await self.captures.run_step()

    async def _wait_for_wake(self, seconds: float) -> None:
        # A timeout is the usual case and means that the next poll is due.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        self._wake.clear()

    def _monotonic(self) -> float:
        return self._epochs.clock.monotonic()

    def _now(self) -> int:
        return self._epochs.clock.now()

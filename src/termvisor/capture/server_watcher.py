"""Watch one tmux server: list its panes, store their changes and drive the capture of their output.

In: what the kernel shows about the server (`server_activity`) and updates from the recorder. Out: stored panes, events
and epochs. Invariant: one task does all the work for a server, step by step.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from msgspec import Struct

from termvisor.backends.tmux.control_mode import ControlNotice
from termvisor.backends.tmux.native_client import NativeClient, TmuxProtocolError
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.backends.tmux.server_safety import explain_no_native_client
from termvisor.capture.control_mode_capture import ControlModeCapture
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.pane_capture import PaneCaptureController
from termvisor.capture.pane_registry import KnownPane, PaneRegistry
from termvisor.capture.recorder_client import RecordedStream, RecorderClient, RecorderDied
from termvisor.capture.server_activity import ServerActivity
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, GapCause
from termvisor.model.terminal.pane import CaptureChannel
from termvisor.settings import Settings

# Interval between listings while panes print or change: a title, a name or a command may change with the output.
_BUSY_LISTING_INTERVAL_S = 2.0
# A server that never runs is listed this rarely, in case the kernel's counters are wrong.
_IDLE_LISTING_INTERVAL_S = 60.0
# Interval between looks at the time limits of captures while nothing else happens.
_STEP_INTERVAL_S = 1.0
# Looks at a server after a terminal was created somewhere, and the interval between them.
_QUICK_POLLS, _QUICK_POLL_INTERVAL_S = 3, 0.01
# Longer than the end-of-file timeout of a released pane, so that its stream is dropped and reported first.
_DRAIN_TIMEOUT_S = 4.0
_OBSERVABLE_CHANGES = ("pane_appeared", "pane_gone", "pane_died", "pane_respawned", "pane_resized")
"""Changes that must be seen without a listing."""

T = TypeVar("T")
log = get_logger("capture.servers")


class SessionNotice(Struct, frozen=True):
    """A notice from the control-mode capture client of a session."""

    session_id: str
    notice: ControlNotice


InboxMessage = RecordedStream | RecorderDied | SessionNotice


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
        self._next_poll_at = self._next_step_at = self._last_listing_at = 0.0
        self._listing_interval = _BUSY_LISTING_INTERVAL_S
        self._captured_bytes_at_listing = 0
        self._is_listing_stale = self._is_change_seen = True
        self._has_just_listed = False
        self._is_server_gone = self._is_stopping = self._keep_pipes = False
        self.known_panes: dict[MuxPaneId, KnownPane] = {}
        self.first_listing_done = asyncio.Event()
        self.first_capture_done = asyncio.Event()
        """Set once the panes of the first listing are captured, as far as they can be."""
        self._listing_waiters: list[asyncio.Event] = []
        self.has_started = False
        self._degraded_reason = self._last_error = ""
        self._quick_polls = 0
        self.corrections = 0
        """Number of changes found by a listing that should have been seen without one."""

    def post(self, message: InboxMessage) -> None:
        """Queue a message for the watcher's task. Must be called on the event loop."""
        self._inbox.append(message)
        self._wake.set()

    def request_listing(self) -> None:
        """List the panes now, because one was opened."""
        self._next_poll_at, self._is_change_seen = 0.0, True
        self._wake.set()

    async def list_now(self, timeout_s: float) -> None:
        """List the panes and wait until their changes are stored, at most for ``timeout_s``."""
        self._listing_waiters.append(done := asyncio.Event())
        self.request_listing()
        # A server that does not answer is reported elsewhere.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await done.wait()

    def note_terminal_created(self) -> None:
        """Look at the server's processes now: a pane may have been opened, which may be closed again soon."""
        # tmux forks the pane's program a moment after it created the terminal.
        self._next_poll_at, self._quick_polls = 0.0, _QUICK_POLLS
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
            has_news = await self._process_inbox()
            if self._monotonic() >= self._next_poll_at:
                has_news = await self._poll_server() or has_news
            if has_news or self._monotonic() >= self._next_step_at:
                self._next_step_at = self._monotonic() + _STEP_INTERVAL_S
                if await self._call_server(self.captures.run_step):
                    self._next_step_at = 0.0
                if self.captures.is_settled:
                    self.first_capture_done.set()
            await self._wait_for_wake(max(0.0, self._next_poll_at - self._monotonic()))
        await (self._leave_server() if self._is_stopping else self._handle_server_gone())
        for waiter in self._listing_waiters:
            waiter.set()

    @property
    def health(self) -> ServerHealth:
        return ServerHealth(
            target=self.server.instance.target,
            socket=self.socket,
            mux_ok=not (self._is_server_gone or self._last_error),
            client=self.server.client.kind,
            panes=len(self.known_panes),
            attached_sessions=self.captures.control_capture.session_count,
            detail=self._last_error or self._degraded_reason,
            corrections=self.corrections,
        )

    @property
    def is_watching(self) -> bool:
        """Return True if the first listing succeeded and the server is still there."""
        return self.first_listing_done.is_set() and self.has_started and not self._is_server_gone

    def describe_capture(self, mux_id: MuxPaneId) -> tuple[CaptureChannel, GapCause | None]:
        """Return the channel by which a pane is captured, and why it is not if it was captured before."""
        has_captures = self.first_listing_done.is_set() and self.has_started
        return self.captures.describe_capture(mux_id) if has_captures else ("none", None)

    async def _start_watching(self) -> None:
        self.server: TmuxServer = await identify_server(self._plain_client, self.socket)
        self._plain_client.server_pid = self.server.instance.pid
        self._activity = ServerActivity(self.server.instance.pid, self._handle_server_exit)
        self.captures = self._build_captures()
        self.has_started = True
        self._registry = PaneRegistry(self.server.instance, self.known_panes, self._epochs, self.captures)
        await self._registry.load()
        await self._epochs.event_log.emit("server_found", socket=self.socket, version=self.server.version)
        await self._choose_client()
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

    async def _choose_client(self) -> None:
        """Use the native client if the server's version is known to be safe for it, and it answers as expected."""
        reason = explain_no_native_client(self.server.version)
        if not reason:
            client = NativeClient(self.socket)
            try:
                if (await identify_server(client, self.socket)).instance != self.server.instance:
                    raise MuxError("another tmux server took over this socket")
            except MuxError as error:
                # The plain client does the same with one process per request.
                reason = str(error)
            else:
                self.server.client = client
        if reason:
            self._use_plain_client(reason)

    def _use_plain_client(self, reason: str) -> None:
        self.server.client.close()
        self.server.client, self._degraded_reason = self._plain_client, reason
        log.warning("%s: commands are sent by tmux processes: %s", self.socket, reason)

    def _handle_server_exit(self) -> None:
        self._is_server_gone = True
        self._wake.set()

    async def _process_inbox(self) -> bool:
        """Handle all messages; return True if there were any."""
        has_messages = bool(self._inbox)
        while self._inbox:
            message = self._inbox.popleft()
            if isinstance(message, SessionNotice):
                await self.captures.handle_control_notice(message.session_id, message.notice)
            elif isinstance(message, RecorderDied):
                await self.captures.handle_recorder_death()
            else:
                await self._call_server(partial(self.captures.handle_stream_update, message))
        return has_messages

    async def _poll_server(self) -> bool:
        """List the panes if the kernel shows a change, or if the server did something since the last listing.

        Return True if they were listed.
        """
        now = self._monotonic()
        self._next_poll_at = now + (_QUICK_POLL_INTERVAL_S if self._quick_polls else self._get_settings().thin_interval)
        self._quick_polls = max(0, self._quick_polls - 1)
        if self._activity.has_run():
            self._check_activity()
        self._has_just_listed = False
        interval = self._listing_interval if self._is_listing_stale else _IDLE_LISTING_INTERVAL_S
        is_due = self._is_change_seen or now >= self._last_listing_at + interval
        if is_due:
            waiters, self._listing_waiters = self._listing_waiters, []
            await self._call_server(self._refresh_panes)
            for waiter in waiters:
                waiter.set()
        return is_due

    def _check_activity(self) -> None:
        # Right after a listing, the server ran because of it.
        self._is_listing_stale = self._is_listing_stale or not self._has_just_listed
        if self._activity.detect_pane_changes([known.facts for known in self.known_panes.values()]):
            self._is_change_seen = True
            if not self._activity.has_children:
                # The last session ended. The server waits for our connections before it exits.
                self.server.client.close()

    async def _refresh_panes(self) -> None:
        is_change_seen, captured_bytes = self._is_change_seen, self._epochs.pipeline.captured_bytes
        has_output = captured_bytes != self._captured_bytes_at_listing
        self._last_listing_at, self._captured_bytes_at_listing = self._monotonic(), captured_bytes
        self._is_change_seen = self._is_listing_stale = False
        self._has_just_listed = True
        remove_own_clients = self.captures.control_capture.remove_own_clients
        new = {facts.mux_id: remove_own_clients(facts) for facts in await self.server.list_pane_facts()}
        self._last_error = ""
        self._set_disconnect_delay(any(facts.session_ends_unattached for facts in new.values()))
        changes = await self._registry.apply_listing(new)
        if not is_change_seen:
            self.corrections += sum(change.kind in _OBSERVABLE_CHANGES for change in changes)
        self._adjust_listing_interval(is_quiet=not (has_output or changes))

    def _set_disconnect_delay(self, is_needed: bool) -> None:
        """Disconnect rarely while a session has destroy-unattached (DISCONNECT_HAZARD in `server_safety`)."""
        if isinstance(self.server.client, NativeClient):
            self.server.client.delays_disconnects = is_needed
            if not is_needed:
                # Also the connection of the listing that told so: the server may be about to exit.
                self.server.client.close()

    def _adjust_listing_interval(self, *, is_quiet: bool) -> None:
        """Double the interval while the server runs but no pane prints or changes; reset it otherwise."""
        doubled = min(self._get_settings().full_interval, self._listing_interval * 2)
        self._listing_interval = doubled if is_quiet else _BUSY_LISTING_INTERVAL_S

    async def _call_server(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Run a tmux call. If it fails, check whether the server is gone and return None."""
        try:
            return await call()
        except TmuxProtocolError as error:
            self._use_plain_client(str(error))
            self._is_change_seen = True
        except MuxError as error:
            # A dead server and one that does not answer look the same, so check the server's process.
            self._last_error = str(error)
            self._is_server_gone = self._is_server_gone or not self.server.is_alive
            self._is_listing_stale = True
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
        self.server.client.close()
        self._activity.close()
        await self.captures.alerts.clear()

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

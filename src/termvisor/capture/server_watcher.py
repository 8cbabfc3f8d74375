"""Watch one server: list its panes, store their changes and drive the capture of their output.

In: news of the server's source and updates from the recorder. Out: stored panes, events and epochs. Invariant: one
task does all the work for a server, step by step.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from termvisor.backends.backend import Backend
from termvisor.backends.pane_source import CaptureLost, PaneExpected, PanesChanged, PaneSource, ServerGone, ServerNews
from termvisor.backends.transport import Transport
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.pane_capture import PaneCaptureController
from termvisor.capture.pane_registry import KnownPane, PaneRegistry
from termvisor.capture.recorder_client import RecordedStream, RecorderClient, RecorderDied
from termvisor.capture.segment_sink import SegmentSink
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.health import ServerHealth
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, GapCause
from termvisor.model.terminal.pane import CaptureChannel
from termvisor.model.terminal.target import ServerKey
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


InboxMessage = RecordedStream | RecorderDied | CaptureLost


class ServerWatcher:
    """Watcher of the server at an address of a target, until the server is gone or stop() is called.

    ``resumable_epochs`` are the epochs that an earlier daemon or watcher left open, by pane, oldest first.
    """

    def __init__(
        self,
        key: ServerKey,
        *,
        backend: Backend,
        transport: Transport,
        epochs: EpochLifecycle,
        recorder: RecorderClient,
        get_settings: Callable[[], Settings],
        resumable_epochs: dict[PaneId, list[Epoch]],
    ):
        self.key, self.backend, self.transport = key, backend, transport
        self._epochs, self._recorder = epochs, recorder
        self._get_settings, self._resumable_epochs = get_settings, resumable_epochs
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
        self._last_error = ""
        self._quick_polls = 0
        self.corrections = 0
        """Number of changes found by a listing that should have been seen without one."""

    def post(self, message: InboxMessage) -> None:
        """Queue a message for the watcher's task. Must be called on the event loop."""
        self._inbox.append(message)
        self._wake.set()

    def handle_news(self, news: ServerNews) -> None:
        """Handle news of the source. Must be called on the event loop."""
        if isinstance(news, CaptureLost):
            self.post(news)
        elif isinstance(news, PanesChanged):
            self.request_listing()
        elif isinstance(news, PaneExpected):
            # A server may start a pane's program a moment after it created the terminal.
            self._next_poll_at, self._quick_polls = 0.0, _QUICK_POLLS
            self._wake.set()
        elif isinstance(news, ServerGone):
            self._is_server_gone = True
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
        status = self.server.status
        return ServerHealth(
            target=self.key.target,
            socket=self.key.address,
            mux_ok=not (self._is_server_gone or self._last_error),
            client=status.client,
            panes=len(self.known_panes),
            attached_sessions=status.attached_sessions,
            detail=self._last_error or status.detail,
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

    def is_server_alive(self) -> bool:
        """Return False if the server's process has certainly exited. One that cannot be reached may be alive."""
        return self.backend.is_server_alive(self.transport, self.server.instance) is not False

    async def _start_watching(self) -> None:
        self.server: PaneSource = await self.backend.open_server(self.transport, self.key.address, self.handle_news)
        self.captures = self._build_captures()
        self.has_started = True
        self._registry = PaneRegistry(self.server.instance, self.known_panes, self._epochs, self.captures)
        await self._registry.load()
        await self._epochs.event_log.emit("server_found", socket=self.key.address, version=self.server.status.version)
        await self._call_server(self._refresh_panes)
        self.first_listing_done.set()

    def _build_captures(self) -> PaneCaptureController:
        sink = SegmentSink(
            self._epochs, self._recorder, segment_bytes=self._get_settings().segment_bytes, report=self.handle_news
        )
        return PaneCaptureController(
            self.server,
            epochs=self._epochs,
            recorder=self._recorder,
            sink=sink,
            resumable_epochs=self._resumable_epochs,
            get_baseline_lines=lambda: self._get_settings().baseline_lines,
            is_server_alive=self.is_server_alive,
        )

    async def _process_inbox(self) -> bool:
        """Handle all messages; return True if there were any."""
        has_messages = bool(self._inbox)
        while self._inbox:
            message = self._inbox.popleft()
            if isinstance(message, CaptureLost):
                await self.captures.handle_capture_lost(message)
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
        change = self.server.detect_changes(known.facts for known in self.known_panes.values())
        if change != "none":
            # Right after a listing, the server did something because of it.
            self._is_listing_stale = self._is_listing_stale or not self._has_just_listed
            self._is_change_seen = self._is_change_seen or change == "certain"
        self._has_just_listed = False
        interval = self._listing_interval if self._is_listing_stale else _IDLE_LISTING_INTERVAL_S
        is_due = self._is_change_seen or now >= self._last_listing_at + interval
        if is_due:
            waiters, self._listing_waiters = self._listing_waiters, []
            await self._call_server(self._refresh_panes)
            for waiter in waiters:
                waiter.set()
        return is_due

    async def _refresh_panes(self) -> None:
        is_change_seen, captured_bytes = self._is_change_seen, self._epochs.pipeline.captured_bytes
        has_output = captured_bytes != self._captured_bytes_at_listing
        self._last_listing_at, self._captured_bytes_at_listing = self._monotonic(), captured_bytes
        self._is_change_seen = self._is_listing_stale = False
        self._has_just_listed = True
        new = {facts.mux_id: facts for facts in await self.server.list_pane_facts()}
        self._last_error = ""
        changes = await self._registry.apply_listing(new)
        if not is_change_seen:
            self.corrections += sum(change.kind in _OBSERVABLE_CHANGES for change in changes)
        self._adjust_listing_interval(is_quiet=not (has_output or changes))

    def _adjust_listing_interval(self, *, is_quiet: bool) -> None:
        """Double the interval while the server runs but no pane prints or changes; reset it otherwise."""
        doubled = min(self._get_settings().full_interval, self._listing_interval * 2)
        self._listing_interval = doubled if is_quiet else _BUSY_LISTING_INTERVAL_S

    async def _call_server(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """Run a call to the server. If it fails, check whether the server is gone and return None."""
        try:
            return await call()
        except MuxError as error:
            # A dead server and one that does not answer look the same, so check the server's process.
            self._last_error = str(error)
            self._is_server_gone = self._is_server_gone or not self.is_server_alive()
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
        await self._epochs.event_log.emit("server_gone", socket=self.key.address)

    async def _leave_server(self) -> None:
        await self.captures.stop(keep_pipes=self._keep_pipes)
        await self._drain_captures()
        await self._release_server()

    async def abandon_server(self) -> None:
        """Release the server after an exception in run(), leaving epochs open for the next watcher."""
        if self.has_started:
            # Their epochs stay open until the next watcher resumes or closes them.
            await self._release_server()

    async def _release_server(self) -> None:
        await self.server.close()
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

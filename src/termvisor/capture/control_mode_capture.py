"""Hearing panes through control mode, where a pane's pipe is somebody else's.

One `tmux -C` client a session that holds such panes. Its bytes are written to the same segments as the recorder's, in
the client's reader thread, so that a busy daemon never makes tmux wait. Output of other panes is dropped here and not
switched off in tmux: a pane that all clients switched off is no longer read, and its program would freeze.
"""

import asyncio
import contextlib
from collections.abc import Callable
from threading import Lock

from msgspec import Struct

from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.tmux.client import PRIVATE_SESSION, ControlClient, build_output_argv
from termvisor.backends.tmux.control_mode import ControlItem, ControlNotice, ControlOutput, ControlReply
from termvisor.backends.tmux.pane_source import TmuxServer, is_refusal
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.pane_capture_state import PaneCaptureState
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import EpochId, MuxPaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.recorder.segment_log import FLAG_ENDED, SegmentWriter

UNWRITABLE_NOTICE = "unwritable"
"""The name of our own notice that a pane's bytes could not be kept."""

log = get_logger("control")


class OutputTap:
    """What the reader thread does with each item: append a heard pane's bytes, switch at an exact place."""

    def __init__(
        self, now: Callable[[], int], on_growth: Callable[[EpochId, int], None], on_write_error: Callable[[str], None]
    ):
        self._now, self._on_growth, self._on_write_error = now, on_growth, on_write_error
        self._writers: dict[str, tuple[EpochId, SegmentWriter]] = {}
        self._on_next_reply: Callable[[ControlReply], None] | None = None
        self._lock = Lock()

    def __call__(self, item: ControlItem) -> None:
        with self._lock:
            if isinstance(item, ControlOutput) and item.pane in self._writers:
                self._append(item)
            elif isinstance(item, ControlReply) and self._on_next_reply is not None:
                change, self._on_next_reply = self._on_next_reply, None
                change(item)

    def _append(self, item: ControlOutput) -> None:
        epoch, writer = self._writers[item.pane]
        try:
            writer.append(item.data, self._now())
        except OSError as error:
            log.error("epoch %s cannot be written: %s", epoch, error)
            del self._writers[item.pane]
            self._on_write_error(item.pane)
        else:
            self._on_growth(epoch, writer.offset)

    def run_at_next_reply(self, action: Callable[[ControlReply], None]) -> None:
        """Do this at the place of the next reply in the stream of output."""
        self._on_next_reply = action

    def add_writer(self, pane: MuxPaneId, epoch: EpochId, writer: SegmentWriter) -> None:
        self._writers[pane] = (epoch, writer)

    def remove_writer(self, pane: MuxPaneId) -> None:
        self._writers.pop(pane, None)

    def remove_writer_locked(self, pane: MuxPaneId) -> None:
        with self._lock:
            self.remove_writer(pane)

    @property
    def panes(self) -> set[str]:
        with self._lock:
            return set(self._writers)


class ControlCaptureConfig(Struct, frozen=True):
    """What the settings say about output clients."""

    program: str
    segment_bytes: int


class ControlModeCapture:
    """The output clients of one server, by session."""

    def __init__(
        self,
        epochs: EpochLifecycle,
        config: ControlCaptureConfig,
        on_notice: Callable[[str, ControlNotice], None],
        count_fork: Callable[[], None],
    ):
        self._epochs, self._config, self._on_notice, self._count_fork = epochs, config, on_notice, count_fork
        self._clients_by_session: dict[str, tuple[ControlClient, OutputTap]] = {}
        self._writers: dict[EpochId, SegmentWriter] = {}
        self._loop = asyncio.get_running_loop()
        self._home_session = PRIVATE_SESSION

    async def start_capture(self, state: PaneCaptureState, server: TmuxServer, lines: int) -> None:
        """Open an epoch whose first byte follows exactly what the capture shows.

        Never in a session that ends unattached: ours would hold it, or tmux 3.3a would crash when ours is the last.
        """
        if state.ends_unattached:
            raise MuxError(f"the session of {state.mux_id} ends with its last client")
        client, tap = self._get_client(state.session_id, server)
        epoch = await self._epochs.reserve_epoch(state.pane, "control")
        writer = SegmentWriter(self._epochs.pipeline.build_folder_path(epoch), self._config.segment_bytes)
        self._writers[epoch.id] = writer
        through = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        try:
            await client.wait_until_attached()
            await client.request(f"refresh-client -A '{state.mux_id}:continue'")
            tap.run_at_next_reply(lambda _: tap.add_writer(state.mux_id, epoch.id, writer))
            seen = await through.capture_pane(state.mux_id, lines=lines)
        except MuxError:
            state.epoch, state.data_plane = epoch, "control"
            await self.end_capture(state, "joined")
            raise
        state.epoch, state.data_plane = await self._epochs.begin_epoch(epoch, seen), "control"

    def is_following(self, state: PaneCaptureState) -> bool:
        """Whether it is the client of the pane's present session that was told to listen to it."""
        found = self._clients_by_session.get(state.session_id)
        return found is not None and state.mux_id in found[1].panes

    def is_capturing(self, state: PaneCaptureState) -> bool:
        """Whether that client lives."""
        return self.is_following(state) and self._clients_by_session[state.session_id][0].is_open

    async def switch_to_pipe(
        self, state: PaneCaptureState, pipe_epoch: Epoch, server: TmuxServer, command: str
    ) -> bool:
        """Go over to a pipe without losing or doubling a byte; false when the pane's pipe is taken after all."""
        old = state.epoch
        if old is None or not self.is_capturing(state):
            raise MuxError(f"{state.mux_id} is no longer heard by its control client")
        client, tap = self._clients_by_session[state.session_id]
        through = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        tap.run_at_next_reply(lambda reply: None if is_refusal(reply) else tap.remove_writer(state.mux_id))
        seen = await through.open_pipe(state.mux_id, command, lines=0)
        if not isinstance(seen, PaneCapture):
            return False
        await self._close_epoch(old, "joined")
        state.epoch, state.data_plane = await self._epochs.begin_epoch(pipe_epoch, seen), "pipe"
        await self._close_idle_clients()
        return True

    async def end_capture(self, state: PaneCaptureState, ended_by: EpochEnd, missed_since: int | None = None) -> None:
        """Stop hearing a pane this way."""
        for _, tap in self._clients_by_session.values():
            tap.remove_writer_locked(state.mux_id)
        epoch, state.epoch, state.data_plane = state.epoch, None, "none"
        if epoch is not None:
            await self._close_epoch(epoch, ended_by, missed_since)
        await self._close_idle_clients()

    def pop_ended_client(self, session_id: str) -> set[str]:
        """A client ended: the panes it heard. One that came in its place meanwhile is not meant."""
        found = self._clients_by_session.get(session_id)
        if found is None or found[0].is_open:
            return set()
        del self._clients_by_session[session_id]
        return found[1].panes

    async def close_clients(self) -> None:
        for session_id in list(self._clients_by_session):
            await self._close_client(session_id)

    async def _close_epoch(self, epoch: Epoch, ended_by: EpochEnd, missed_since: int | None = None) -> None:
        writer = self._writers.pop(epoch.id, None)
        if writer is None:
            return
        with contextlib.suppress(OSError):  # no room even for the closing record
            writer.write_end(FLAG_ENDED, self._epochs.clock.now())
        writer.close()
        await self._epochs.end_epoch(epoch, ended_by, writer.offset, missed_since=missed_since)

    def _get_client(self, session_id: str, server: TmuxServer) -> tuple[ControlClient, OutputTap]:
        found = self._clients_by_session.get(session_id)
        if found is None or not found[0].is_open:
            tap = OutputTap(
                self._epochs.clock.now, self._report_growth, lambda pane: self._report_write_error(session_id, pane)
            )
            self._home_session = server.home_session
            argv = build_output_argv(self._config.program, server.instance.socket, session_id)
            found = ControlClient(argv, on_notice=lambda notice: self._on_notice(session_id, notice), on_item=tap), tap
            self._clients_by_session[session_id] = found
            self._count_fork()
        return found

    def _report_growth(self, epoch: EpochId, size: int) -> None:
        self._loop.call_soon_threadsafe(self._epochs.pipeline.note_growth, epoch, size)

    def _report_write_error(self, session_id: str, pane: str) -> None:
        self._loop.call_soon_threadsafe(self._on_notice, session_id, ControlNotice(UNWRITABLE_NOTICE, (pane,)))

    async def _close_idle_clients(self) -> None:
        for session_id, (_, tap) in list(self._clients_by_session.items()):
            if not tap.panes:
                await self._close_client(session_id)

    async def _close_client(self, session_id: str) -> None:
        """By way of our own session: tmux 3.3a crashes when a session ends because its last client died (15 of 40)."""
        client, _ = self._clients_by_session.pop(session_id)
        with contextlib.suppress(MuxError):
            await client.request(f"switch-client -t ={self._home_session}")
        client.close()

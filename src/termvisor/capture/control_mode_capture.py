"""Capture panes through tmux control mode if another program uses their pipe.

This attaches to the user's session, which then counts as attached in tmux; it is the last resort, and `health` tells
it. Each session with such panes gets one `tmux -C` client, whose reader thread writes the bytes to the same kind of
segments as the recorder, so that a busy daemon never makes tmux wait. Output of other panes is dropped here, not
switched off in tmux: tmux stops reading a pane that all clients switched off, which would freeze its program.
"""

import asyncio
import contextlib
from collections.abc import Callable
from threading import Lock

from msgspec import Struct
from msgspec.structs import replace

from termvisor.backends.pane_source import PaneCapture
from termvisor.backends.tmux.commands import TmuxCommand, TmuxReply, build_guard, parse_refusal
from termvisor.backends.tmux.control_client import ControlClient, build_guard_argv, build_output_argv
from termvisor.backends.tmux.control_mode import ControlItem, ControlNotice, ControlOutput, ControlReply
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.pane_capture_state import PaneCaptureState
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import EpochId, MuxPaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.model.terminal.pane import PaneFacts
from termvisor.recorder.segment_log import FLAG_ENDED, SegmentWriter

UNWRITABLE_NOTICE = "unwritable"
"""Name of our own notice (not one of tmux) that a pane's bytes could not be written."""

log = get_logger("control")


class OutputTap:
    """Writer of the output of captured panes to their segments; called by the client's reader thread."""

    def __init__(
        self, now: Callable[[], int], on_growth: Callable[[EpochId, int], None], on_write_error: Callable[[str], None]
    ):
        self._now, self._on_growth, self._on_write_error = now, on_growth, on_write_error
        self._writers: dict[str, tuple[EpochId, SegmentWriter]] = {}
        self._on_next_reply: Callable[[TmuxReply], None] | None = None
        # The event loop adds and removes writers while the reader thread appends.
        self._lock = Lock()

    def __call__(self, item: ControlItem) -> None:
        with self._lock:
            if isinstance(item, ControlOutput) and item.pane in self._writers:
                self._append(item)
            elif isinstance(item, ControlReply) and self._on_next_reply is not None:
                action, self._on_next_reply = self._on_next_reply, None
                action(item.reply)

    def _append(self, item: ControlOutput) -> None:
        epoch, writer = self._writers[item.pane]
        try:
            writer.append(item.data, self._now())
        except OSError as error:
            # Usually a full disk: stop capturing this pane, but continue with the others.
            log.error("cannot write epoch %s: %s", epoch, error)
            del self._writers[item.pane]
            self._on_write_error(item.pane)
        else:
            self._on_growth(epoch, writer.offset)

    def run_at_next_reply(self, action: Callable[[TmuxReply], None]) -> None:
        """Run an action in the reader thread, exactly where the next reply occurs in the output stream."""
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


class SessionClients(Struct, frozen=True):
    """Our clients of one session: one receives the output, the other keeps tmux reading if the first one stalls."""

    output: ControlClient
    guard: ControlClient
    tap: OutputTap


class ControlModeCapture:
    """Owner of one server's capture clients, one per session."""

    def __init__(
        self,
        epochs: EpochLifecycle,
        *,
        program: str,
        segment_bytes: int,
        on_notice: Callable[[str, ControlNotice], None],
        count_fork: Callable[[], None],
    ):
        self._epochs, self._program, self._segment_bytes = epochs, program, segment_bytes
        self._on_notice, self._count_fork = on_notice, count_fork
        self._clients_by_session: dict[str, SessionClients] = {}
        self._writers: dict[EpochId, SegmentWriter] = {}
        self._loop = asyncio.get_running_loop()

    @property
    def session_count(self) -> int:
        """Number of sessions that clients of ours are attached to."""
        return len(self._clients_by_session)

    def exclude_own_clients(self, facts: PaneFacts) -> PaneFacts:
        """Return the facts of a pane with only the clients that other programs attached to its session."""
        clients = self._clients_by_session.get(facts.session_id)
        if clients is None:
            return facts
        # tmux names a client without a terminal after its process.
        own = {f"client-{client.pid}" for client in (clients.output, clients.guard)}
        others = tuple(name for name in facts.session_clients if name not in own)
        count = facts.session_attached - (len(facts.session_clients) - len(others))
        return replace(facts, session_clients=others, session_attached=count)

    async def start_capture(self, state: PaneCaptureState, server: TmuxServer, lines: int) -> None:
        """Begin an epoch whose first byte directly follows what the pane's capture shows.

        Raises MuxError if the session has destroy-unattached set: our client would keep it alive, and tmux 3.3a crashes
        when our client is the last to leave.
        """
        if state.ends_unattached:
            raise MuxError(f"the session of {state.mux_id} is destroyed with its last client")
        clients = self._get_clients(state.session_id, server)
        client, tap = clients.output, clients.tap
        epoch = await self._epochs.reserve_epoch(state.pane, "control")
        writer = SegmentWriter(self._epochs.pipeline.build_folder_path(epoch), self._segment_bytes)
        self._writers[epoch.id] = writer
        server_via_client = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        try:
            # The guard first: while only the other one is attached, a stalled reader could freeze the pane's program.
            await clients.guard.wait_until_attached()
            await client.wait_until_attached()
            # A pane that tmux paused would send nothing.
            await client.request(TmuxCommand("refresh-client", "-A", f"{state.mux_id}:continue"))
            # The reply to a capture has an exact place in the output stream: bytes before it are in the capture.
            tap.run_at_next_reply(lambda _: tap.add_writer(state.mux_id, epoch.id, writer))
            capture = await server_via_client.capture_history(state.mux_id, lines)
        except MuxError:
            # end_capture needs the epoch in the state to close it.
            state.epoch, state.data_plane = epoch, "control"
            await self.end_capture(state, "joined")
            raise
        state.epoch, state.data_plane = await self._epochs.begin_epoch(epoch, capture, state.pid), "control"

    def is_following(self, state: PaneCaptureState) -> bool:
        """Return True if the pane is captured by the client of its current session."""
        entry = self._clients_by_session.get(state.session_id)
        return entry is not None and state.mux_id in entry.tap.panes

    def is_capturing(self, state: PaneCaptureState) -> bool:
        """Return True if the pane is captured by the client of its current session and that client is connected."""
        return self.is_following(state) and self._clients_by_session[state.session_id].output.is_open

    async def switch_to_pipe(
        self, state: PaneCaptureState, pipe_epoch: Epoch, server: TmuxServer, command: str
    ) -> bool:
        """Switch to a pipe without losing or duplicating a byte; return False if another program uses the pipe.

        Raises MuxError if the capture client is gone.
        """
        control_epoch = state.epoch
        if control_epoch is None or not self.is_capturing(state):
            raise MuxError(f"{state.mux_id} is no longer captured by its control client")
        client, tap = self._clients_by_session[state.session_id].output, self._clients_by_session[state.session_id].tap
        server_via_client = TmuxServer(client, server.instance, version=server.version, exits_unattached=False)
        tap.run_at_next_reply(lambda reply: tap.remove_writer(state.mux_id) if parse_refusal(reply) is None else None)
        opened = await server_via_client.open_pipe(state.mux_id, command, lines=0)
        if not isinstance(opened, PaneCapture):
            return False
        await self._close_epoch(control_epoch, "joined")
        state.epoch, state.data_plane = await self._epochs.begin_epoch(pipe_epoch, opened, state.pid), "pipe"
        await self._close_idle_clients()
        return True

    async def end_capture(self, state: PaneCaptureState, ended_by: EpochEnd, missed_since: int | None = None) -> None:
        """Stop capturing a pane through control mode and end its epoch."""
        for clients in self._clients_by_session.values():
            clients.tap.remove_writer_locked(state.mux_id)
        epoch, state.epoch, state.data_plane = state.epoch, None, "none"
        if epoch is not None:
            await self._close_epoch(epoch, ended_by, missed_since)
        await self._close_idle_clients()

    def pop_ended_client(self, session_id: str) -> set[str]:
        """Remove the client of a session if it exited, and return the panes it captured.

        A new client that the session may have by now is kept.
        """
        entry = self._clients_by_session.get(session_id)
        if entry is None or entry.output.is_open:
            return set()
        del self._clients_by_session[session_id]
        entry.guard.close()
        return entry.tap.panes

    async def close_clients(self) -> None:
        for session_id in list(self._clients_by_session):
            await self._close_client(session_id)

    async def _close_epoch(self, epoch: Epoch, ended_by: EpochEnd, missed_since: int | None = None) -> None:
        writer = self._writers.pop(epoch.id, None)
        if writer is None:
            return
        # The disk may be full even for the end record.
        with contextlib.suppress(OSError):
            writer.write_end(FLAG_ENDED, self._epochs.clock.now())
        writer.close()
        await self._epochs.end_epoch(epoch, ended_by, writer.offset, missed_since=missed_since)

    def _get_clients(self, session_id: str, server: TmuxServer) -> SessionClients:
        entry = self._clients_by_session.get(session_id)
        if entry is not None and entry.output.is_open and entry.guard.is_open:
            return entry
        if entry is not None:
            entry.output.close()
            entry.guard.close()
        tap = OutputTap(
            self._epochs.clock.now, self._report_growth, lambda pane: self._report_write_error(session_id, pane)
        )
        guard_argv = build_guard_argv(self._program, server.instance.socket, session_id)
        output_argv = build_output_argv(self._program, server.instance.socket, session_id)
        guard = ControlClient(guard_argv, on_notice=lambda _: None)
        output = ControlClient(output_argv, on_notice=lambda notice: self._on_notice(session_id, notice), on_item=tap)
        entry = SessionClients(output, guard, tap)
        self._clients_by_session[session_id] = entry
        self._count_fork()
        self._count_fork()
        return entry

    def _report_growth(self, epoch: EpochId, size: int) -> None:
        self._loop.call_soon_threadsafe(self._epochs.pipeline.note_growth, epoch, size)

    def _report_write_error(self, session_id: str, pane: str) -> None:
        self._loop.call_soon_threadsafe(self._on_notice, session_id, ControlNotice(UNWRITABLE_NOTICE, (pane,)))

    async def _close_idle_clients(self) -> None:
        for session_id, clients in list(self._clients_by_session.items()):
            if not clients.tap.panes:
                await self._close_client(session_id)

    async def _close_client(self, session_id: str) -> None:
        clients = self._clients_by_session.pop(session_id)
        # The clients may be lost already; they are closed in any case.
        with contextlib.suppress(MuxError):
            await clients.output.request(*_build_end_of_session_commands(session_id))
        clients.output.close()
        clients.guard.close()


def _build_end_of_session_commands(session_id: str) -> list[TmuxCommand]:
    """Return commands that end a session which only our two clients keep, as its destroy-unattached demands.

    tmux would end it when we leave, and crashed in 15 of 40 runs in doing so (3.3a): it frees the session while our
    exiting client still points to it. `kill-session` takes the clients off first.
    """
    is_session = f"#{{==:#{{session_id}},{session_id}}}"
    is_destroyed = "#{||:#{==:#{destroy-unattached},1},#{==:#{destroy-unattached},on}}"
    condition = f"#{{&&:{is_session},#{{&&:{is_destroyed},#{{==:#{{session_attached}},2}}}}}}"
    return [build_guard(f"{session_id}:", condition), TmuxCommand("kill-session", "-t", session_id)]

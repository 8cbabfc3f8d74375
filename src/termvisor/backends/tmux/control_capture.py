"""Capture panes through tmux control mode if another program uses their pipe.

This attaches to the user's session, which then counts as attached in tmux; it is the last resort, and `health` tells
it. Each session with such panes gets one `tmux -C` client, whose reader thread passes the bytes to the capture sink, so
that a busy daemon never makes tmux wait. Output of other panes is dropped here, not switched off in tmux: tmux stops
reading a pane that all clients switched off, which would freeze its program.
"""

import contextlib
from collections.abc import Callable, Mapping
from threading import Lock

from msgspec.structs import replace

from termvisor.backends.capture_sink import CaptureSink
from termvisor.backends.pane_source import CaptureLost, CaptureRefusal, PaneCapture
from termvisor.backends.tmux.commands import TmuxCommand, TmuxReply, build_guard, parse_refusal
from termvisor.backends.tmux.control_client import ControlClient, build_guard_argv, build_output_argv
from termvisor.backends.tmux.control_mode import ControlItem, ControlNotice, ControlOutput, ControlReply
from termvisor.backends.tmux.pane_source import TmuxServer
from termvisor.errors import MuxError
from termvisor.model.ids import EpochId, MuxPaneId
from termvisor.model.terminal.pane import PaneFacts


class OutputTap:
    """Sender of the output of captured panes to the sink; called by the client's reader thread."""

    def __init__(self) -> None:
        self._captures: dict[str, tuple[EpochId, CaptureSink]] = {}
        self._on_next_reply: Callable[[TmuxReply], None] | None = None
        # The event loop adds and removes panes while the reader thread sends their output.
        self._lock = Lock()

    def __call__(self, item: ControlItem) -> None:
        with self._lock:
            if isinstance(item, ControlOutput) and (capture := self._captures.get(item.pane)) is not None:
                epoch, sink = capture
                if not sink.append(epoch, item.data):
                    # The sink reports that. The other panes are captured as before.
                    del self._captures[item.pane]
            elif isinstance(item, ControlReply) and self._on_next_reply is not None:
                action, self._on_next_reply = self._on_next_reply, None
                action(item.reply)

    def run_at_next_reply(self, action: Callable[[TmuxReply], None]) -> None:
        """Run an action in the reader thread, exactly where the next reply occurs in the output stream."""
        self._on_next_reply = action

    def add_pane(self, pane: MuxPaneId, epoch: EpochId, sink: CaptureSink) -> None:
        self._captures[pane] = (epoch, sink)

    def remove_pane(self, pane: MuxPaneId) -> None:
        self._captures.pop(pane, None)

    def remove_pane_locked(self, pane: MuxPaneId) -> None:
        with self._lock:
            self.remove_pane(pane)

    @property
    def epochs_by_pane(self) -> Mapping[str, EpochId]:
        with self._lock:
            return {pane: epoch for pane, (epoch, _) in self._captures.items()}


class SessionClients:
    """Our clients of one session: one receives the output, the other keeps tmux reading if the first one stalls."""

    def __init__(
        self, program: str, socket: str, session_id: str, on_notice: "Callable[[SessionClients, ControlNotice], None]"
    ):
        self.session_id, self.tap = session_id, OutputTap()
        self.guard = ControlClient(build_guard_argv(program, socket, session_id), on_notice=lambda _: None)
        try:
            self.output = ControlClient(
                build_output_argv(program, socket, session_id),
                on_notice=lambda notice: on_notice(self, notice),
                on_item=self.tap,
            )
        except MuxError:
            self.guard.close()
            raise

    @property
    def is_open(self) -> bool:
        return self.output.is_open and self.guard.is_open

    async def wait_until_attached(self) -> None:
        # The guard first: while only the other one is attached, a stalled reader could freeze a pane's program.
        await self.guard.wait_until_attached()
        await self.output.wait_until_attached()

    def close(self) -> None:
        self.output.close()
        self.guard.close()


class ControlModeCapture:
    """Owner of one server's capture clients, one pair per session; ``report`` takes the captures that end."""

    def __init__(
        self, program: str, socket: str, *, report: Callable[[CaptureLost], None], count_fork: Callable[[], None]
    ):
        self._program, self._socket, self._report, self._count_fork = program, socket, report, count_fork
        self._clients_by_session: dict[str, SessionClients] = {}

    @property
    def session_count(self) -> int:
        """Number of sessions that clients of ours are attached to."""
        return len(self._clients_by_session)

    def remove_own_clients(self, facts: PaneFacts) -> PaneFacts:
        """Return the facts of a pane with only the clients that other programs attached to its session."""
        clients = self._clients_by_session.get(facts.session_id)
        if clients is None:
            return facts
        # tmux names a client without a terminal after its process.
        own = {f"client-{client.pid}" for client in (clients.output, clients.guard)}
        others = tuple(name for name in facts.session_clients if name not in own)
        count = facts.session_attached - (len(facts.session_clients) - len(others))
        return replace(facts, session_clients=others, session_attached=count)

    async def start_capture(
        self, pane: MuxPaneId, session_id: str, epoch: EpochId, sink: CaptureSink, *, server: TmuxServer, lines: int
    ) -> PaneCapture:
        """Send the pane's output to the sink, from the first byte that is not in the returned capture."""
        clients = await self._get_clients(session_id)
        client, tap = clients.output, clients.tap
        try:
            await clients.wait_until_attached()
            # A pane that tmux paused would send nothing.
            await client.request(TmuxCommand("refresh-client", "-A", f"{pane}:continue"))
            # The reply to a capture has an exact place in the output stream: bytes before it are in the capture.
            tap.run_at_next_reply(lambda _: tap.add_pane(pane, epoch, sink))
            return await _build_server(client, server).capture_history(pane, lines)
        except MuxError:
            await self.stop_capture(pane)
            raise

    def is_following(self, pane: MuxPaneId, session_id: str) -> bool:
        """Return True if the pane is captured by the clients of this session."""
        clients = self._clients_by_session.get(session_id)
        return clients is not None and pane in clients.tap.epochs_by_pane

    def find_epoch(self, pane: MuxPaneId) -> EpochId | None:
        """Return the epoch that the pane's output is sent to."""
        epochs = (clients.tap.epochs_by_pane.get(pane) for clients in self._clients_by_session.values())
        return next((epoch for epoch in epochs if epoch is not None), None)

    @property
    def panes(self) -> list[MuxPaneId]:
        """The panes that are captured now."""
        return [MuxPaneId(pane) for one in self._clients_by_session.values() for pane in one.tap.epochs_by_pane]

    async def switch_to_pipe(
        self, pane: MuxPaneId, session_id: str, *, server: TmuxServer, command: str
    ) -> PaneCapture | CaptureRefusal:
        """Pipe the pane without losing or duplicating a byte, or return why another program prevents it.

        Raises MuxError if the capture client is gone.
        """
        clients = self._clients_by_session.get(session_id)
        if clients is None or not clients.output.is_open or not self.is_following(pane, session_id):
            raise MuxError(f"{pane} is no longer captured by its control client")
        tap = clients.tap
        tap.run_at_next_reply(lambda reply: tap.remove_pane(pane) if parse_refusal(reply) is None else None)
        opened = await _build_server(clients.output, server).open_pipe(pane, command, lines=0)
        if isinstance(opened, PaneCapture):
            await self._close_idle_clients()
        return opened

    async def stop_capture(self, pane: MuxPaneId) -> None:
        """Stop sending the pane's output."""
        for clients in self._clients_by_session.values():
            clients.tap.remove_pane_locked(pane)
        await self._close_idle_clients()

    async def lose_capture(self, pane: MuxPaneId) -> None:
        """Stop a capture that must not go on, and report it: it may start again at once in another way."""
        if (epoch := self.find_epoch(pane)) is not None:
            await self.stop_capture(pane)
            self._report(CaptureLost(epoch, "link_down", is_failure=False))

    async def close_clients(self) -> None:
        for clients in list(self._clients_by_session.values()):
            await self._close_clients(clients)

    async def _get_clients(self, session_id: str) -> SessionClients:
        clients = self._clients_by_session.get(session_id)
        if clients is not None and clients.is_open:
            return clients
        if clients is not None:
            self._drop_clients(clients, is_failure=False)
        self._count_fork()
        self._count_fork()
        clients = SessionClients(self._program, self._socket, session_id, self._handle_notice)
        self._clients_by_session[session_id] = clients
        return clients

    def _handle_notice(self, clients: SessionClients, notice: ControlNotice) -> None:
        """Report the captures that a client lost because it exited, or because tmux paused one of its panes."""
        if notice.name == "exit":
            self._drop_clients(clients, is_failure=True)
        elif notice.name == "pause" and notice.arguments:
            pane = MuxPaneId(notice.arguments[0])
            epoch = clients.tap.epochs_by_pane.get(pane)
            clients.tap.remove_pane_locked(pane)
            if epoch is not None:
                self._report(CaptureLost(epoch, "client_paused", is_failure=False))

    def _drop_clients(self, clients: SessionClients, *, is_failure: bool) -> None:
        """Close the clients of a session and report the captures that end with them."""
        if self._clients_by_session.get(clients.session_id) is clients:
            del self._clients_by_session[clients.session_id]
        lost = clients.tap.epochs_by_pane
        for pane in lost:
            clients.tap.remove_pane_locked(MuxPaneId(pane))
        clients.close()
        for epoch in lost.values():
            self._report(CaptureLost(epoch, "link_down", is_failure=is_failure))

    async def _close_idle_clients(self) -> None:
        for clients in list(self._clients_by_session.values()):
            if not clients.tap.epochs_by_pane:
                await self._close_clients(clients)

    async def _close_clients(self, clients: SessionClients) -> None:
        del self._clients_by_session[clients.session_id]
        # The clients may be lost already; they are closed in any case.
        with contextlib.suppress(MuxError):
            await clients.output.request(*_build_end_of_session_commands(clients.session_id))
        clients.close()


def _build_server(client: ControlClient, server: TmuxServer) -> TmuxServer:
    """Return the server as seen through a control client."""
    return TmuxServer(client, server.instance, version=server.version, exits_unattached=False)


def _build_end_of_session_commands(session_id: str) -> list[TmuxCommand]:
    """Return commands that end a session which only our two clients keep, as its destroy-unattached demands.

    tmux would end it when we leave, and crashed in 15 of 40 runs in doing so (3.3a): it frees the session while our
    exiting client still points to it. `kill-session` takes the clients off first.
    """
    is_session = f"#{{==:#{{session_id}},{session_id}}}"
    is_destroyed = "#{||:#{==:#{destroy-unattached},1},#{==:#{destroy-unattached},on}}"
    condition = f"#{{&&:{is_session},#{{&&:{is_destroyed},#{{==:#{{session_attached}},2}}}}}}"
    return [build_guard(f"{session_id}:", condition), TmuxCommand("kill-session", "-t", session_id)]

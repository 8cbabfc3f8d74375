"""`PaneSource` for one tmux server on this machine: choose the client, notice changes, capture panes by pipe or client.

A request that the native client does not understand makes `tmux` processes send all further commands.
"""

import shlex
from collections.abc import Callable, Iterable

from termvisor.backends.capture_sink import CaptureSink, StreamHandoff
from termvisor.backends.pane_source import (
    CaptureRefusal,
    PaneCapture,
    PanesChanged,
    ReportNews,
    ServerChange,
    ServerGone,
    SourceStatus,
    StartedCapture,
)
from termvisor.backends.tmux.control_capture import ControlModeCapture
from termvisor.backends.tmux.native_client import NativeClient
from termvisor.backends.tmux.pane_source import TmuxServer, identify_server
from termvisor.backends.tmux.plain_client import PlainClient
from termvisor.backends.tmux.server_activity import ServerActivity
from termvisor.backends.tmux.server_safety import explain_no_native_client
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts

log = get_logger("backends.tmux")


class TmuxPaneSource(TmuxServer):
    """A tmux server that is watched; ``report`` takes its news."""

    def __init__(
        self,
        server: TmuxServer,
        plain_client: PlainClient,
        *,
        program: str,
        report: ReportNews,
        count_fork: Callable[[], None],
    ):
        super().__init__(
            server.client, server.instance, version=server.version, exits_unattached=server.exits_unattached
        )
        self._plain_client, self._report = plain_client, report
        self._degraded_reason = ""
        self._facts_by_pane: dict[MuxPaneId, PaneFacts] = {}
        self._activity = ServerActivity(server.instance.pid, lambda: report(ServerGone()))
        self.control_capture = ControlModeCapture(program, server.instance.socket, report=report, count_fork=count_fork)
        self.on_close: Callable[[TmuxPaneSource], None] = lambda source: None

    @property
    def status(self) -> SourceStatus:
        return SourceStatus(
            client=self.client.kind,
            version=self.version,
            attached_sessions=self.control_capture.session_count,
            detail=self._degraded_reason,
        )

    async def choose_client(self) -> None:
        """Use the native client if the server's version is known to be safe for it, and it answers as expected."""
        reason, socket = explain_no_native_client(self.version), self.instance.socket
        if not reason:
            client = NativeClient(socket, self._use_plain_client)
            try:
                if (await identify_server(client, socket)).instance != self.instance:
                    raise MuxError("another tmux server took over this socket")
            except MuxError as error:
                # The plain client does the same with one process per request.
                reason = str(error)
            else:
                self.client = client
        if reason:
            self._use_plain_client(reason)

    def _use_plain_client(self, reason: str) -> None:
        self.client.close()
        self.client, self._degraded_reason = self._plain_client, reason
        log.warning("%s: commands are sent by tmux processes: %s", self.instance.socket, reason)
        # What the failed request was to show has to be read again.
        self._report(PanesChanged())

    def detect_changes(self, panes: Iterable[PaneFacts]) -> ServerChange:
        if not self._activity.has_run():
            return "none"
        if not self._activity.detect_pane_changes(panes):
            return "possible"
        if not self._activity.has_children:
            # The last session ended. The server waits for our connections before it exits.
            self.client.close()
        return "certain"

    async def list_pane_facts(self) -> list[PaneFacts]:
        listed = [self.control_capture.remove_own_clients(facts) for facts in await super().list_pane_facts()]
        self._facts_by_pane = {facts.mux_id: facts for facts in listed}
        self._set_disconnect_delay(any(facts.session_ends_unattached for facts in listed))
        for pane in self.control_capture.panes:
            facts = self._facts_by_pane.get(pane)
            # Our client must detach, or the pane was moved to another session.
            if facts is not None and not (
                self._can_attach(facts) and self.control_capture.is_following(pane, facts.session_id)
            ):
                await self.control_capture.lose_capture(pane)
        return listed

    def _set_disconnect_delay(self, is_needed: bool) -> None:
        """Disconnect rarely while a session has destroy-unattached (DISCONNECT_HAZARD in `server_safety`)."""
        if isinstance(self.client, NativeClient):
            self.client.delays_disconnects = is_needed
            if not is_needed:
                # Also the connection of the listing that told so: the server may be about to exit.
                self.client.close()

    def _can_attach(self, facts: PaneFacts) -> bool:
        """Return False if the session or server ends with its last client, because ours would keep it alive.

        A server of an unknown version gets no attached client either.
        """
        return not (facts.session_ends_unattached or self.exits_unattached or self.client.kind == "plain")

    def choose_channel(self, pane: MuxPaneId, *, can_pipe: bool) -> CaptureChannel:
        if can_pipe:
            return "pipe"
        facts = self._facts_by_pane.get(pane)
        return "control" if facts is not None and self._can_attach(facts) else "none"

    async def start_capture(
        self, pane: MuxPaneId, epoch: Epoch, sink: CaptureSink, *, lines: int, replace: bool = False
    ) -> StartedCapture | CaptureRefusal:
        if epoch.source == "control":
            return await self._start_client_capture(pane, epoch, sink, lines)
        command = build_pipe_command(sink.plan_handoff(epoch.pane, epoch.id))
        if self.control_capture.find_epoch(pane) is None:
            opened = await self.open_pipe(pane, command, lines=lines, replace=replace)
        else:
            session_id = self._get_facts(pane).session_id
            opened = await self.control_capture.switch_to_pipe(pane, session_id, server=self, command=command)
        if not isinstance(opened, PaneCapture):
            return opened
        return StartedCapture(data_plane="pipe", capture=opened, awaits_recorder=True)

    async def _start_client_capture(
        self, pane: MuxPaneId, epoch: Epoch, sink: CaptureSink, lines: int
    ) -> StartedCapture:
        facts = self._get_facts(pane)
        if not self._can_attach(facts):
            # Our client would keep it alive, and tmux 3.3a crashes when our client is the last to leave.
            raise MuxError(f"the session of {pane} is destroyed with its last client")
        capture = await self.control_capture.start_capture(
            pane, facts.session_id, epoch.id, sink, server=self, lines=lines
        )
        return StartedCapture(data_plane="control", capture=capture)

    def _get_facts(self, pane: MuxPaneId) -> PaneFacts:
        facts = self._facts_by_pane.get(pane)
        if facts is None:
            raise MuxError(f"pane {pane} is gone")
        return facts

    async def stop_capture(self, pane: MuxPaneId, epoch: Epoch) -> None:
        if epoch.source == "control":
            await self.control_capture.stop_capture(pane)
        else:
            await self.close_pipe(pane)

    async def close(self) -> None:
        await self.control_capture.close_clients()
        self.client.close()
        self._activity.close()
        self.on_close(self)


def build_pipe_command(handoff: StreamHandoff) -> str:
    """Return the command for `pipe-pane` that hands the pane's output to the recorder."""
    # tmux expands strftime, then formats. It does not unescape `##[`, so close and reopen the quote in between.
    return "exec " + shlex.join(handoff.argv).replace("%", "%%").replace("#", "##''")

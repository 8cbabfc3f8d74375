"""The capture state of one pane: its epoch, its channel, and why it must not be piped. Pure."""

from msgspec import Struct, field

from termvisor.backends.pane_source import PaneStatus
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts
from termvisor.system.retry import Backoff

HANDOFF_TIMEOUT_S = 6.0
"""Longer than the five seconds after which send_fd.py, which hands the pipe to the recorder, gives up."""
EOF_TIMEOUT_S = 2.0
"""How long to wait for a released pane's end of file before the recorder must close the pipe."""
END_CONFIRMATION_DELAY_S = 0.3
"""Check again after this delay, because a server being killed still answers for a moment, without its panes."""


class PaneCaptureState(Struct):
    pane: PaneId
    mux_id: MuxPaneId
    session_id: str
    pid: int = 0
    """The pane's first process."""
    ends_unattached: bool = False
    """Its session is destroyed with its last client, so our client must not attach to it."""
    is_dead: bool = False
    is_respawned: bool = False
    """Its previous instance was captured until another program was started in the pane."""
    is_piped: bool = False
    is_pipe_foreign: bool = False
    """Another program opened or closed this pane's pipe, so it is never piped again."""
    can_replace_pipe: bool = False
    """The pane's pipe belonged to a recorder of ours that died, so it may be replaced. A later pipe is not ours."""
    is_miss_recorded: bool = False
    """A gap has been recorded because the pane cannot be captured."""
    epoch: Epoch | None = None
    data_plane: CaptureChannel = "none"
    handoff_pending_since: float | None = None
    draining_since: float | None = None
    end_cause: EpochEnd | None = None
    final_size: int | None = None
    """Set once the last byte was read. The cause of the end is decided END_CONFIRMATION_DELAY_S later."""
    backoff: Backoff = field(default_factory=Backoff)
    retry_at: float = 0.0

    def update_facts(self, facts: PaneFacts) -> None:
        self.session_id, self.ends_unattached = facts.session_id, facts.session_ends_unattached
        self.is_dead, self.is_piped, self.pid = facts.dead, facts.piped, facts.pid
        self.can_replace_pipe = self.can_replace_pipe and facts.piped

    @property
    def is_settled(self) -> bool:
        """Return True if the pane is captured, or could not be."""
        is_captured = self.epoch is not None and self.handoff_pending_since is None
        return is_captured or self.is_dead or self.is_miss_recorded or self.retry_at > 0.0

    @property
    def needs_pipe(self) -> bool:
        return not self.is_pipe_foreign and (self.can_replace_pipe or not self.is_piped)


def classify_pipe_end(*, is_capped: bool, is_server_alive: bool, pane_status: PaneStatus | None) -> EpochEnd:
    """Return why a pipe ended, judging by the state of the server right afterwards."""
    if is_capped:
        return "disk_full"
    if not is_server_alive:
        return "server_gone"
    if pane_status is None or pane_status.dead:
        return "pane_exited"
    # A pane has only one pipe. If another program's pipe replaces ours, ours ends but the pane still counts as piped.
    return "pipe_stolen" if pane_status.piped else "pipe_closed"

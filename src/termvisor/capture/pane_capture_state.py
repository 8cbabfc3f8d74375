"""An Ear is how one pane is heard: which epoch, by which plane, and why it may not be piped. Pure."""

from msgspec import Struct, field

from termvisor.backends.pane_source import PaneStatus
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd, GapCause
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts
from termvisor.system.backoff import Backoff

HANDOFF_TIMEOUT_S = 6.0
"""The helper that hands the pipe to the recorder gives up after five seconds."""
EOF_TIMEOUT_S = 2.0
END_CONFIRMATION_DELAY_S = 0.3
"""A server that is being killed still answers for a moment, without its panes."""


class PaneCaptureState(Struct):
    pane: PaneId
    mux_id: MuxPaneId
    session_id: str
    ends_unattached: bool = False
    """Its session ends with its last client: ours must not be one of them."""
    is_dead: bool = False
    is_piped: bool = False
    is_pipe_foreign: bool = False
    """Somebody else opened or closed this pane's pipe: it is theirs, we never pipe it again."""
    can_replace_pipe: bool = False
    """The pipe that the pane still shows is our own, and its recorder is dead; one that comes later is not ours."""
    is_miss_recorded: bool = False
    """No way to hear it was found, and that was told."""
    epoch: Epoch | None = None
    data_plane: CaptureChannel = "none"
    handoff_pending_since: float | None = None
    draining_since: float | None = None
    end_cause: EpochEnd | None = None
    final_size: int | None = None
    """Its last byte was read; why it ended is settled after `DOUBT_FOR`."""
    backoff: Backoff = field(default_factory=Backoff)
    retry_at: float = 0.0

    def update_facts(self, facts: PaneFacts) -> None:
        self.session_id, self.ends_unattached = facts.session_id, facts.session_ends_unattached
        self.is_dead, self.is_piped = facts.dead, facts.piped
        self.can_replace_pipe = self.can_replace_pipe and facts.piped

    @property
    def needs_pipe(self) -> bool:
        return not self.is_pipe_foreign and (self.can_replace_pipe or not self.is_piped)


def classify_pipe_end(*, is_capped: bool, is_server_alive: bool, pane_status: PaneStatus | None) -> EpochEnd:
    """What the end of a pipe's bytes means, by what the server shows right afterwards."""
    if is_capped:
        return "disk_full"
    if not is_server_alive:
        return "server_gone"
    if pane_status is None or pane_status.dead:
        return "pane_exited"
    return "pipe_stolen" if pane_status.piped else "pipe_closed"


def find_gap_cause(ended_by: EpochEnd, *, saw_end: bool) -> GapCause | None:
    """The gap that follows such an end. A program's exit is certain only when its end marker was heard."""
    if ended_by == "joined":
        return None
    if ended_by == "pane_exited":
        return None if saw_end else "tail_uncertain"
    return "recorder_restart" if ended_by == "stopped" else ended_by

"""The capture state of one pane: its epoch, its channel, and why its stream must not be used. Pure."""

from collections.abc import Sequence

from msgspec import Struct, field

from termvisor.backends.pane_source import PaneStatus
from termvisor.capture.recorder_client import StreamState
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.output import Epoch, EpochEnd, Gap, GapCause
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts
from termvisor.system.retry import Backoff

HANDOFF_TIMEOUT_S = 6.0
"""Longer than the five seconds after which send_fd.py, which hands the pipe to the recorder, gives up."""
EOF_TIMEOUT_S = 2.0
"""How long to wait for a released pane's end of file before the recorder must close the pipe."""
END_CONFIRMATION_DELAY_S = 0.3
"""Check again after this delay, because a server being killed still answers for a moment, without its panes."""
CAUSE_BY_STREAM_STATE: dict[StreamState, GapCause] = {"capped": "disk_full", "starved": "descriptors_exhausted"}
"""Why the recorder closed a pipe by itself."""


class PaneCaptureState(Struct):
    pane: PaneId
    mux_id: MuxPaneId
    pid: int = 0
    """The pane's first process."""
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
    was_captured: bool = False
    """Some output of the pane was captured, by this daemon or an earlier one."""
    gap_cause: GapCause | None = None
    """Why the pane is not captured now, although it was."""
    lost_at: float = 0.0
    """When the capture was lost, if there is a ``gap_cause``."""
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
        self.is_dead, self.is_piped, self.pid = facts.dead, facts.piped, facts.pid
        self.can_replace_pipe = self.can_replace_pipe and facts.piped

    def note_captured(self) -> None:
        self.was_captured, self.gap_cause = True, None

    def note_lost(self, cause: GapCause | None, now: float) -> None:
        """Record why the capture ended; the first cause counts until the pane is captured again."""
        if cause is not None and self.gap_cause is None:
            self.gap_cause, self.lost_at = cause, now

    def note_end(self, ended_by: EpochEnd) -> Epoch | None:
        """Return the epoch that ended, and keep what its end says about the pane and its pipe."""
        epoch, self.epoch, self.data_plane = self.epoch, None, "none"
        self.handoff_pending_since = self.draining_since = self.end_cause = self.final_size = None
        if epoch is not None:
            # The recorder closed the pipe itself, although the server counts it until the pane prints again.
            self.can_replace_pipe = self.can_replace_pipe or ended_by in CAUSE_BY_STREAM_STATE.values()
            self.is_pipe_foreign = self.is_pipe_foreign or ended_by in ("pipe_stolen", "pipe_closed")
            self.is_dead = self.is_dead or ended_by == "pane_exited"
        return epoch

    def note_earlier_gaps(self, gaps: Sequence[Gap], now: float) -> None:
        """Take over what the gaps of the pane show that an earlier daemon recorded."""
        self.is_pipe_foreign = any(gap.cause in ("pipe_stolen", "pipe_closed") for gap in gaps)
        self.was_captured = any(gap.after is not None for gap in gaps)
        for gap in gaps:
            if gap.end_at is None and gap.after is not None:
                self.note_lost(gap.cause, now)

    def describe_capture(self, stream_state: StreamState) -> tuple[CaptureChannel, GapCause | None]:
        """Return the channel, and why the pane is not captured if it was; ``stream_state`` is that of its pipe."""
        if stream_state != "open":
            return "none", CAUSE_BY_STREAM_STATE.get(stream_state, self.gap_cause)
        return self.data_plane if self.gap_cause is None else "none", self.gap_cause

    @property
    def is_settled(self) -> bool:
        """Return True if the pane is captured, or could not be."""
        is_captured = self.epoch is not None and self.handoff_pending_since is None
        return is_captured or self.is_dead or self.is_miss_recorded or self.retry_at > 0.0

    @property
    def is_recorded(self) -> bool:
        """Return True if the recorder holds the pane's stream, and reports its end."""
        return self.data_plane in ("pipe", "pty")

    @property
    def needs_pipe(self) -> bool:
        """Return True if the pane's only stream is free for us."""
        return not self.is_pipe_foreign and (self.can_replace_pipe or not self.is_piped)


def classify_pipe_end(stream_state: StreamState, *, is_server_alive: bool, pane_status: PaneStatus | None) -> EpochEnd:
    """Return why a pipe ended, judging by the state of the server right afterwards."""
    if cause := CAUSE_BY_STREAM_STATE.get(stream_state):
        return cause
    if not is_server_alive:
        return "server_gone"
    if pane_status is None or pane_status.dead:
        return "pane_exited"
    # A pane has only one pipe. If another program's pipe replaces ours, ours ends but the pane still counts as piped.
    return "pipe_stolen" if pane_status.piped else "pipe_closed"

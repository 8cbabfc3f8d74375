"""Agent processes: the traces that identify them, and facts about them.

Facts and signals are stored in a single order.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.signal import Signal
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName


class PaneLocation(Struct, frozen=True):
    """The location of a pane. A multiplexer may later reuse it for another pane."""

    target: TargetName
    socket: str
    mux_pane: MuxPaneId


class AgentProcess(Struct, frozen=True, kw_only=True):
    """One agent process. ``pid`` is 0 if unknown; ``started_at`` is when it started, not when it was found."""

    id: RuntimeId
    pane: PaneId
    place: PaneLocation
    generation: int = 0
    """The number of earlier panes at this location."""
    agent: str
    pid: int = 0
    pid_started: int = 0
    cwd: str = ""
    started_at: int

    @property
    def is_process_seen(self) -> bool:
        """Return False for a remote agent, and for one that is known by the pane's command alone."""
        return self.pid > 0 and self.pid_started > 0


class AgentStarted(Struct, frozen=True, kw_only=True, tag="RuntimeBegan"):
    at: int
    runtime: AgentProcess


class AgentExited(Struct, frozen=True, kw_only=True, tag="RuntimeEnded"):
    at: int
    runtime: RuntimeId
    exit_code: int | None = None
    """As shells report it, 128 + n for signal n; None if unknown."""
    is_pane_closing: bool = False
    """True if its pane was closed before."""


class PaneClosed(Struct, frozen=True, kw_only=True, tag=True):
    at: int
    pane: PaneId


class OutputMissed(Struct, frozen=True, kw_only=True, tag="PaneMissed"):
    """Some output of the pane is missing up to this time."""

    at: int
    pane: PaneId


class TargetReachability(Struct, frozen=True, kw_only=True, tag="TargetReached"):
    """A target became reachable or unreachable."""

    at: int
    target: TargetName
    is_reachable: bool


class ClockSet(Struct, frozen=True, kw_only=True, tag=True):
    """The system clock was set forward by ``by`` nanoseconds (backward if negative)."""

    at: int
    by: int


Fact = Signal | AgentStarted | AgentExited | PaneClosed | OutputMissed | TargetReachability | ClockSet
"""Everything that states are computed from, in storage order."""

SignatureClass = Literal["deterministic", "heuristic", "none"]
SignatureReason = Literal[
    "handshake",
    "provider_hint",
    "cmd_match",
    "poller_match",
    "signature_inconclusive",
    "signature_guard_rejected",
]


class SignatureInputs(Struct, frozen=True, kw_only=True):
    """The agent suggested by each trace; empty if none."""

    provider_hint: str = ""
    """The agent suggested by the process: its argv, program or children."""
    cmd_match: str = ""
    """The agent suggested by the pane's current command."""
    poller_match: str = ""
    """The agent suggested by the pane's screen."""
    title_match: str = ""


class AgentSignature(Struct, frozen=True, kw_only=True):
    """The traces by which a pane was identified as running an agent."""

    agent: str = ""
    signature_class: SignatureClass = "none"
    signature_reason: SignatureReason = "signature_inconclusive"
    signature_confidence: float = 0.0
    signature_inputs: SignatureInputs = SignatureInputs()

"""A Runtime is one agent process in a pane. What happens to runtimes is told as facts, beside the signals."""

from msgspec import Struct

from termvisor.model.agent.signal import Signal
from termvisor.model.ids import MuxPaneId, PaneId, RuntimeId, TargetName


class PaneLocation(Struct, frozen=True):
    """Where a pane stands. The multiplexer gives the same place to another pane later."""

    target: TargetName
    socket: str
    mux_pane: MuxPaneId


class AgentProcess(Struct, frozen=True, kw_only=True):
    """``pid`` is 0 where the process is not known. ``started_at`` is when the process started, not when we saw it."""

    id: RuntimeId
    pane: PaneId
    place: PaneLocation
    generation: int = 0
    """How many panes stood in this place before."""
    agent: str
    pid: int = 0
    pid_started: int = 0
    cwd: str = ""
    started_at: int


class AgentStarted(Struct, frozen=True, kw_only=True, tag="RuntimeBegan"):
    at: int
    runtime: AgentProcess


class AgentExited(Struct, frozen=True, kw_only=True, tag="RuntimeEnded"):
    at: int
    runtime: RuntimeId


class PaneClosed(Struct, frozen=True, kw_only=True, tag=True):
    at: int
    pane: PaneId


class OutputMissed(Struct, frozen=True, kw_only=True, tag="PaneMissed"):
    """Output of the pane is missing up to this instant."""

    at: int
    pane: PaneId


class TargetReachability(Struct, frozen=True, kw_only=True, tag="TargetReached"):
    """A target answers, or no longer does."""

    at: int
    target: TargetName
    is_reachable: bool


class ClockSet(Struct, frozen=True, kw_only=True, tag=True):
    """The machine's clock was set. What it called an instant before, it calls ``by`` nanoseconds later now."""

    at: int
    by: int


Fact = Signal | AgentStarted | AgentExited | PaneClosed | OutputMissed | TargetReachability | ClockSet
"""All that states are made of, in the order in which it was stored."""

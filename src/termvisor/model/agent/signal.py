"""Signals: pieces of evidence from a source about an agent. A signal is stored before it is used.

`ReadPosition` records how far a source has been read. It is stored together with the facts read from it.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import EvidenceTier, StateName, UnknownReason
from termvisor.model.event import Scalar
from termvisor.model.ids import MuxPaneId, RuntimeId, SignalId, TargetName
from termvisor.model.terminal.target import LOCAL

SignalKind = Literal[
    "state",  # the agent is in `state`
    "note",  # something beside the state: flags, tasks, a title
    "heartbeat",  # the source is alive and has nothing new
    "task_began",  # the sub-task `task` runs
    "task_ended",
    "no_agent",  # the screen shows no agent
    "source_down",  # the source itself is no longer available
    "exited",  # the agent's process ended
]

DropReason = Literal[
    "duplicate",
    "late_event",
    "runtime_mismatch",
    "dropped_unbound",
    "binding_conflict",
    "invalid_source_event",
    "missing_event_time",
    "source_inadmissible",
    "source_not_active",
    "peer_uid_mismatch",
]
"""Why a signal was dropped. Dropped signals are counted, but are not errors."""


class ProcessHint(Struct, frozen=True, kw_only=True):
    """What is known about the process of a signal that has no agent process. Empty means unknown."""

    target: TargetName = LOCAL.name
    socket: str = ""
    mux_pane: MuxPaneId | None = None
    pid: int = 0
    pid_started: int = 0
    cwd: str = ""
    via: int = 0
    """The process that delivered the signal. It is proof if it is the agent itself, but may be a shared server."""
    is_doubtful: bool = False
    """True if several processes of this agent work in the folder, so the folder alone proves nothing."""


class FlagUpdate(Struct, frozen=True, kw_only=True):
    """Reported flags; None means not reported."""

    usage_limited: bool | None = None
    resets_at: int | None = None
    compacting: bool | None = None
    auth_needed: bool | None = None


NO_FLAG_UPDATE = FlagUpdate()


class Signal(Struct, frozen=True, kw_only=True, tag=True):
    """``event_at`` is the source's time, ``ingested_at`` our own. Free text is already redacted."""

    id: SignalId = SignalId(0)
    source: str
    tier: EvidenceTier
    agent: str
    runtime: RuntimeId | None = None
    hint: ProcessHint = ProcessHint()
    session: str = ""
    """The agent's own session id."""
    source_event_id: str = ""
    source_seq: int | None = None
    source_life: int = 0
    """Incremented when the source restarts, because its sequence numbers restart too."""
    event_at: int
    ingested_at: int
    dedupe_key: str
    """The same each time the same piece of evidence is delivered."""
    kind: SignalKind = "state"
    state: StateName | None = None
    reason: UnknownReason | None = None
    """The reason why `state` is unknown."""
    task: str = ""
    """The sub-task that started or ended."""
    tasks: tuple[str, ...] | None = None
    """All running sub-tasks; None if the source did not list them."""
    flags: FlagUpdate = NO_FLAG_UPDATE
    title: str | None = None
    """The agent's name for its session; for the source `title`, the pane's title."""
    moved_at: int | None = None
    """For a screen: the last time the pane printed or received input."""
    look_interval: int = 0
    """For a screen: nanoseconds until the next sample at the current interval."""
    payload: dict[str, Scalar] = {}
    confidence: float = 1.0


class ReadPosition(Struct, frozen=True, kw_only=True):
    """How far one watch of an agent has been read."""

    runtime: RuntimeId
    watch: str
    """The name of the watch, unique for this agent."""
    body: bytes
    """Encoded by `agents.sources.read_positions`."""

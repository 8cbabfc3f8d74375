"""A Signal is one piece of evidence from one source about one agent. It is stored before it counts."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import EvidenceTier, StateName, UnknownReason
from termvisor.model.event import Scalar
from termvisor.model.ids import MuxPaneId, RuntimeId, SignalId, TargetName
from termvisor.model.terminal.target import LOCAL

SignalKind = Literal[
    "state",  # the agent is in `state`
    "note",  # something is told beside the state: flags, tasks, a title
    "heartbeat",  # the source lives and has nothing new
    "task_began",  # the sub-task `task` runs
    "task_ended",
    "no_agent",  # a look found no agent
    "source_down",  # the source itself cannot be heard any more
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
"""Why a signal changed nothing. These are counted, they are not errors."""


class ProcessHint(Struct, frozen=True, kw_only=True):
    """What a signal without a runtime tells of the process that it is about. Empty means: not told."""

    target: TargetName = LOCAL.name
    socket: str = ""
    mux_pane: MuxPaneId | None = None
    pid: int = 0
    pid_started: int = 0
    cwd: str = ""
    via: int = 0
    """The process that handed it on. Where that is the agent itself, it is proof; it may be a server of several."""
    is_doubtful: bool = False
    """More than one of this agent works in the folder: where that is all that is told, it proves nothing."""


class FlagUpdate(Struct, frozen=True, kw_only=True):
    """None means that nothing was said of it."""

    usage_limited: bool | None = None
    resets_at: int | None = None
    compacting: bool | None = None
    auth_needed: bool | None = None


NO_FLAG_UPDATE = FlagUpdate()


class Signal(Struct, frozen=True, kw_only=True, tag=True):
    """``event_at`` is the source's time, ``ingested_at`` our own. Free text is redacted before it gets here."""

    id: SignalId = SignalId(0)
    source: str
    tier: EvidenceTier
    agent: str
    runtime: RuntimeId | None = None
    hint: ProcessHint = ProcessHint()
    session: str = ""
    """The agent's own id of its session."""
    source_event_id: str = ""
    source_seq: int | None = None
    source_life: int = 0
    """Rises when the source itself began anew, and its numbers with it."""
    event_at: int
    ingested_at: int
    dedupe_key: str
    """The same for the same piece of evidence, however often it is delivered."""
    kind: SignalKind = "state"
    state: StateName | None = None
    reason: UnknownReason | None = None
    """Why `state` is unknown."""
    task: str = ""
    """The sub-task that began or ended."""
    tasks: tuple[str, ...] | None = None
    """All sub-tasks that run now; None where the source did not list them."""
    flags: FlagUpdate = NO_FLAG_UPDATE
    title: str | None = None
    """What the agent calls its session; of the source `title`, the pane's title."""
    moved_at: int | None = None
    """Of a look: when the pane last printed or was typed into."""
    look_interval: int = 0
    """Of a look: nanoseconds until the next one, at the present pace."""
    payload: dict[str, Scalar] = {}
    confidence: float = 1.0

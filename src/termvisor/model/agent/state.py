"""What an agent is doing: its state by precedence, the flags beside it, and where that knowledge comes from."""

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from termvisor.model.ids import PaneId, RuntimeId, SignalId

StateName = Literal["error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown"]
PRECEDENCE: tuple[StateName, ...] = (
    "error",
    "waiting_approval",
    "waiting_input",
    "running",
    "completed",
    "idle",
    "unknown",
)
"""The first of these that holds is the one that is shown."""

UnknownReason = Literal[
    "stale_signal",  # what was said is too old to be believed
    "target_unreachable",  # the machine it runs on does not answer
    "unsupported_signal",  # it said something that we do not understand
    "unknown_screen",  # its screen looks like nothing we know
    "no_signal",  # nothing was said yet, or not for long enough
    "gap",  # output is missing in which it may have said something else
]
EvidenceTier = Literal["deterministic", "heuristic"]
EvidenceMode = Literal["deterministic", "heuristic", "none"]
Presence = Literal["managed", "unmanaged"]
Binding = Literal["unmanaged", "managed_heuristic", "managed_deterministic_fresh", "managed_deterministic_stale"]
Confidence = Literal["high", "medium", "low"]

_PRECEDENCE_RANK: dict[StateName, int] = {name: rank for rank, name in enumerate(PRECEDENCE)}


def get_precedence(state: StateName) -> int:
    """0 for what matters most."""
    return _PRECEDENCE_RANK[state]


def select_top_state(states: Iterable[StateName]) -> StateName:
    """The one state that speaks for many; without any it is unknown."""
    return min(states, key=get_precedence, default="unknown")


class StateContradiction(Struct, frozen=True, kw_only=True):
    """A witness has been seeing something else since then."""

    since: int
    by: str
    """The source that disagrees."""
    state: StateName
    """What it sees."""


class AgentFlags(Struct, frozen=True, kw_only=True):
    """What is true beside the state."""

    usage_limited: bool = False
    resets_at: int | None = None
    """When the usage limit ends, where that was told."""
    compacting: bool = False
    auth_needed: bool = False
    subtasks: int = 0
    """Sub-agents and background work that still run."""
    contradicted: StateContradiction | None = None
    ambiguous: bool = False
    """Something that was told may be about it or about another one beside it: that was left out."""


class AgentState(Struct, frozen=True, kw_only=True):
    """What one agent is doing and how that is known. Ages are not here: they are reckoned when somebody asks."""

    runtime: RuntimeId
    pane: PaneId
    agent: str
    value: StateName = "unknown"
    reason: UnknownReason | None = None
    """Why it is unknown; None for all other states."""
    evidence_mode: EvidenceMode = "none"
    source: str = ""
    evidence: SignalId | None = None
    """The signal that decided."""
    since: int | None = None
    flags: AgentFlags = AgentFlags()
    confidence: Confidence = "low"
    presence: Presence = "managed"
    binding: Binding = "managed_heuristic"
    last_event: int | None = None
    """When anything was last heard of it."""


class StateProjection(Struct, frozen=True, kw_only=True):
    """The published state. Whoever writes the next one names the version that they saw."""

    version: int
    state: AgentState


class StateChange(Struct, frozen=True, kw_only=True):
    """A state became another one; `before` is None for the first."""

    at: int
    version: int
    before: AgentState | None
    after: AgentState

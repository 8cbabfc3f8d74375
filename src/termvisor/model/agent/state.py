"""The state of an agent: its value by precedence, flags, and the evidence behind it."""

from collections.abc import Iterable
from typing import Literal, get_args

from msgspec import Struct

from termvisor.model.ids import PaneId, RuntimeId, SignalId

StateName = Literal["error", "waiting_approval", "waiting_input", "running", "completed", "idle", "unknown"]
PRECEDENCE: tuple[StateName, ...] = get_args(StateName)
"""States by precedence. If several hold, the first is shown."""

UnknownReason = Literal[
    "stale_signal",  # the last signal is too old to be trusted
    "target_unreachable",  # the machine it runs on cannot be reached
    "unsupported_signal",  # its signal could not be interpreted
    "unknown_screen",  # no rule matches its screen
    "unseen_version",  # no rule matches its screen, and its version is older or newer than all recorded ones
    "no_signal",  # no signal yet, or not for long enough
    "gap",  # output is missing that may have contained another signal
]
EvidenceTier = Literal["deterministic", "heuristic"]
EvidenceMode = Literal["deterministic", "heuristic", "none"]
Presence = Literal["managed", "unmanaged"]
Binding = Literal["unmanaged", "managed_heuristic", "managed_deterministic_fresh", "managed_deterministic_stale"]
Confidence = Literal["high", "medium", "low"]


def get_precedence(state: StateName) -> int:
    """Return the rank of a state; 0 is the most important."""
    return PRECEDENCE.index(state)


def select_top_state(states: Iterable[StateName]) -> StateName:
    """Return the most important of the states; unknown if there is none."""
    return min(states, key=get_precedence, default="unknown")


class StateContradiction(Struct, frozen=True, kw_only=True):
    """Another source has been reporting a different state since this time."""

    since: int
    by: str
    """The source that disagrees."""
    state: StateName
    """The state that it reports."""


class AgentFlags(Struct, frozen=True, kw_only=True):
    """Conditions in addition to the state."""

    usage_limited: bool = False
    resets_at: int | None = None
    """When the usage limit ends, if known."""
    compacting: bool = False
    auth_needed: bool = False
    subtasks: int = 0
    """Running sub-agents and background tasks."""
    contradicted: StateContradiction | None = None
    ambiguous: bool = False
    """True if some signals were ignored because they may be about another agent in the same folder."""


class AgentState(Struct, frozen=True, kw_only=True):
    """The state of an agent and its evidence. Ages are not stored but computed on request."""

    runtime: RuntimeId
    pane: PaneId
    agent: str
    value: StateName = "unknown"
    reason: UnknownReason | None = None
    """Why the state is unknown; None for all other states."""
    evidence_mode: EvidenceMode = "none"
    source: str = ""
    evidence: SignalId | None = None
    """The deciding signal."""
    since: int | None = None
    flags: AgentFlags = AgentFlags()
    confidence: Confidence = "low"
    presence: Presence = "managed"
    binding: Binding = "managed_heuristic"
    last_event: int | None = None
    """The time when its last signal was captured."""


class StateProjection(Struct, frozen=True, kw_only=True):
    """The published state. To publish the next one, a writer must pass the version that it read."""

    version: int
    state: AgentState
    changed_at: int = 0
    """When the value changed last; 0 if a version stored it that did not know."""


class StateChange(Struct, frozen=True, kw_only=True):
    """A change of the published state. `before` is None for the first state."""

    at: int
    version: int
    before: AgentState | None
    after: AgentState

"""An Explanation is why an agent is said to be in its state: every witness, what it said, and what became of it."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import AgentState, EvidenceTier, StateName
from termvisor.model.ids import SignalId

EvidenceRole = Literal[
    "decides",
    "agrees",
    "suppressed",  # a source of a better rank says otherwise
    "contradicts",  # a look that shows something else than was told
    "overtaken",  # long looks proved that it missed something
    "unsettled",  # not seen for long enough yet
    "stale",
    "down",
    "gap",  # output is missing in which it may have said something else
    "silent",  # it lives and has said nothing of the state
]


class SourceEvidence(Struct, frozen=True, kw_only=True):
    """One source. ``age`` is nanoseconds since it was last heard."""

    source: str
    tier: EvidenceTier
    rank: int
    role: EvidenceRole
    said: StateName | None = None
    evidence: SignalId | None = None
    since: int | None = None
    age: int


class ExpectedChange(Struct, frozen=True, kw_only=True):
    """What would change the state: at an instant by itself, or when something is heard (``at`` is None)."""

    what: str
    at: int | None = None


class StateExplanation(Struct, frozen=True, kw_only=True):
    state: AgentState
    age: int | None
    """Nanoseconds in this state."""
    testimonies: tuple[SourceEvidence, ...]
    would_change: tuple[ExpectedChange, ...]
    doubts: tuple[str, ...] = ()
    """What could not be proven, and was therefore left out."""

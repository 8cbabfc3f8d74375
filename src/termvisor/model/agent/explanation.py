"""The explanation of an agent's state: the evidence of each source and its role."""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import AgentState, EvidenceTier, StateName
from termvisor.model.ids import SignalId

EvidenceRole = Literal[
    "decides",
    "agrees",
    "suppressed",  # a source of a better rank reports another state
    "contradicts",  # a screen that shows another state
    "overtaken",  # the screen proved that it missed an event
    "unsettled",  # not shown for long enough yet
    "stale",
    "down",
    "gap",  # output is missing that may have contained another signal
    "silent",  # it is alive but reported no state
]


class SourceEvidence(Struct, frozen=True, kw_only=True):
    """The evidence of one source. ``age`` is nanoseconds since its last signal."""

    source: str
    tier: EvidenceTier
    rank: int
    role: EvidenceRole
    said: StateName | None = None
    evidence: SignalId | None = None
    since: int | None = None
    age: int


class ExpectedChange(Struct, frozen=True, kw_only=True):
    """What would change the state: time alone at ``at``, or a new signal if that is None."""

    what: str
    at: int | None = None


class StateExplanation(Struct, frozen=True, kw_only=True):
    state: AgentState
    age: int | None
    """Nanoseconds in this state."""
    testimonies: tuple[SourceEvidence, ...]
    would_change: tuple[ExpectedChange, ...]
    doubts: tuple[str, ...] = ()
    """Evidence that could not be proven and was ignored."""

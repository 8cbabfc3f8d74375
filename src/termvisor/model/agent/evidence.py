"""Evidence: the sources of signals, how far each is trusted, how they explain a state, and signs of drift.

Sources with a lower rank take precedence; equal ranks are equally trusted. Official interfaces rank before our own.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.program_version import ProgramVersion
from termvisor.model.agent.state import AgentState, EvidenceTier, StateName
from termvisor.model.ids import PaneId, RuntimeId, SignalId

_MINUTE_NS = 60 * 10**9
_SCREEN_TRUST_NS = 90 * 10**9
"""Three times the longest interval between two screen samples."""

SourceStatus = Literal["active", "pending", "stale", "revoked"]


class EvidenceSource(Struct, frozen=True, kw_only=True):
    name: str
    tier: EvidenceTier
    rank: int
    beats: bool = False
    """It sends heartbeats about every second, so silence is evidence too."""
    trusted_for: int = 10 * _MINUTE_NS
    """Nanoseconds for which its last signal is trusted without heartbeats or other evidence."""
    has_holes: bool = False
    """It misses the end of some turns, such as an interrupt that fires no hook."""
    reads_stream: bool = False
    """It is read from the pane's output, so a gap may hide its signals."""
    blind_to: tuple[StateName, ...] = ()
    """States that it cannot report: it reports an end as `idle`, and a question as a permission request."""
    blurs_ends: bool = False
    """It does not distinguish completed, interrupted and failed turns, nor report the end of a compaction, so the
    screen decides."""
    misses_dialogs: bool = False
    """It does not report some dialogs (it keeps reporting running or idle), so the screen is trusted."""
    is_shared: bool = False
    """Other agents use it too, so it counts only for sessions that the agent reported elsewhere."""
    standing: SourceStatus = "active"
    """Signals are accepted only while the source is active."""


class SourceHealth(Struct, frozen=True, kw_only=True):
    """The health of one source."""

    agent: str
    source: str
    where: str = ""
    """Its path or address, shown to the user."""
    status: Literal["well", "quiet", "absent", "down"] = "quiet"
    detail: str = ""
    heard_at: int | None = None
    records: int = 0
    signals: int = 0
    dropped: int = 0
    lag: float | None = None
    """Seconds between the agent's timestamp and ours, for the last record with a timestamp."""


def build_native_source(
    name: str,
    rank: int,
    *,
    has_holes: bool = False,
    misses_dialogs: bool = False,
    blind_to: tuple[StateName, ...] = (),
) -> EvidenceSource:
    """Build a source in which the agent reports its own state."""
    return EvidenceSource(
        name=name,
        tier="deterministic",
        rank=rank,
        has_holes=has_holes,
        misses_dialogs=misses_dialogs,
        blind_to=blind_to,
    )


def build_transcript_source(name: str, rank: int) -> EvidenceSource:
    """Build a source for a file with the conversation of a session, which shows neither dialogs nor interrupts."""
    return EvidenceSource(
        name=name, tier="deterministic", rank=rank, has_holes=True, misses_dialogs=True, is_shared=True
    )


def build_heuristic_source(name: str, rank: int) -> EvidenceSource:
    """Build a source from which the state is inferred."""
    return EvidenceSource(name=name, tier="heuristic", rank=rank, trusted_for=_SCREEN_TRUST_NS)


OSC_SOURCE = EvidenceSource(name="osc", tier="deterministic", rank=2, reads_stream=True)
"""OSC 7501, the program status that some agents print."""
PRINTED_SOURCE = EvidenceSource(name="printed", tier="deterministic", rank=5, reads_stream=True)
"""JSON lines that an agent prints for other programs, read only while the agent is in the foreground."""
HEURISTIC_SOURCES = (
    build_heuristic_source("screen", 10),
    build_heuristic_source("title", 11),
    build_heuristic_source("process", 12),
)

DEFAULT_SOURCES = (
    build_native_source("server", 1),
    build_native_source("plugin", 1),
    build_native_source("hook", 1, has_holes=True),
    build_native_source("session_file", 4, has_holes=True),
    *HEURISTIC_SOURCES,
)
"""Used for an agent whose adapter declares no source."""

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
    """What would change the state: the passing of time ``at``, or a new signal if ``at`` is None."""

    what: str
    at: int | None = None


class StateExplanation(Struct, frozen=True, kw_only=True):
    """Why an agent has its state: the evidence of each source and its role."""

    state: AgentState
    age: int | None
    """Nanoseconds spent in this state."""
    testimonies: tuple[SourceEvidence, ...]
    would_change: tuple[ExpectedChange, ...]
    doubts: tuple[str, ...] = ()
    """Evidence that could not be proven and was ignored."""


DriftKind = Literal[
    "unseen_version",  # it is older or newer than every recorded version
    "strange_screens",  # no rule matches its screens, although native sources report, or none has ever matched one
    "unseen_dialogs",  # it reports waiting repeatedly, but no rule matches the dialog
    "silent_signals",  # its screen shows work, but the native sources stopped reporting
]


class AgentDrift(Struct, frozen=True, kw_only=True):
    """A sign that an agent program has changed, so there is less evidence for its states."""

    agent: str
    kind: DriftKind
    pane: PaneId
    runtime: RuntimeId
    since: int
    program: ProgramVersion = ProgramVersion()

    @property
    def version(self) -> str:
        """The program version; empty if unknown."""
        return self.program.version

    @property
    def key(self) -> tuple[str, DriftKind, str]:
        """The same for the same drift, so that it is reported once."""
        return self.agent, self.kind, self.version

    @property
    def description(self) -> str:
        """Describe the drift for the user. The text follows the agent's name."""
        version = f"version {self.version}" if self.version else "unknown version"
        if self.kind == "unseen_version":
            return self.program.description
        if self.kind == "strange_screens":
            count = f" ({self.program.strange_screens} of {self.program.screens})" * bool(self.program.screens)
            return f"{version}: no rule matches its screens{count}"
        if self.kind == "unseen_dialogs":
            return f"{version}: no rule matches its dialogs on the screen, only its own signals report them"
        return f"{version}: it stopped sending signals while its screen shows work"

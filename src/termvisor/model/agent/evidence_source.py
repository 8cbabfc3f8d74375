"""Evidence sources: where signals come from, how far they are believed, and their known gaps.

A lower rank is believed first; sources of one rank are equal. Official interfaces rank before our own ones.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import EvidenceTier, StateName

_MINUTE_NS = 60 * 10**9
_SCREEN_TRUST_NS = 90 * 10**9
"""Three times the longest interval between two screen samples."""

SourceStatus = Literal["active", "pending", "stale", "revoked"]


class EvidenceSource(Struct, frozen=True, kw_only=True):
    name: str
    tier: EvidenceTier
    rank: int
    beats: bool = False
    """It sends heartbeats about every second, so its silence is evidence."""
    trusted_for: int = 10 * _MINUTE_NS
    """Nanoseconds for which its last signal is believed without heartbeats or other evidence."""
    has_holes: bool = False
    """It misses the end of some turns, such as an interrupt that fires no hook."""
    reads_stream: bool = False
    """It is read from the pane's output, so a gap there may hide its signals."""
    blind_to: tuple[StateName, ...] = ()
    """States that it cannot report: it shows an end as `idle`, and a question as a permission request."""
    blurs_ends: bool = False
    """It reports all ends of turns alike, also interrupted and failed ones; the screen shows which it was."""
    misses_dialogs: bool = False
    """It does not report some dialogs (it keeps saying running or idle), so the screen is believed."""
    is_shared: bool = False
    """Other agents use it as well: it counts only for sessions that the agent reported elsewhere."""
    standing: SourceStatus = "active"
    """Signals are accepted only while the source is active."""


class SourceHealth(Struct, frozen=True, kw_only=True):
    """The health of one source."""

    agent: str
    source: str
    where: str = ""
    """Its path or address, for the user."""
    status: Literal["well", "quiet", "absent", "down"] = "quiet"
    detail: str = ""
    heard_at: int | None = None
    records: int = 0
    signals: int = 0
    dropped: int = 0
    lag: float | None = None
    """Seconds from the agent's timestamp to ours, for the last record with one."""


def build_native_source(
    name: str, rank: int, *, has_holes: bool = False, blind_to: tuple[StateName, ...] = ()
) -> EvidenceSource:
    """Build a source in which the agent reports its own state."""
    return EvidenceSource(name=name, tier="deterministic", rank=rank, has_holes=has_holes, blind_to=blind_to)


def build_heuristic_source(name: str, rank: int) -> EvidenceSource:
    """Build a source from which the state is inferred."""
    return EvidenceSource(name=name, tier="heuristic", rank=rank, trusted_for=_SCREEN_TRUST_NS)


OSC_SOURCE = EvidenceSource(name="osc", tier="deterministic", rank=2, reads_stream=True)
"""OSC 7501, the program status that some agents print."""
PRINTED_SOURCE = EvidenceSource(name="printed", tier="deterministic", rank=5, reads_stream=True)
"""JSON lines that an agent prints for other programs, read only while it is in the foreground."""
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
"""For an agent whose adapter declares none."""

"""A Source is where signals come from: how far it is believed, and what it is known not to tell.

A lower rank is believed first; sources of one rank are equals. Official ways stand before home-made ones.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent.state import EvidenceTier, StateName

_MINUTE_NS = 60 * 10**9
_SCREEN_TRUST_NS = 90 * 10**9
"""Three times the longest pause between two looks."""

SourceStatus = Literal["active", "pending", "stale", "revoked"]


class EvidenceSource(Struct, frozen=True, kw_only=True):
    name: str
    tier: EvidenceTier
    rank: int
    beats: bool = False
    """It promises a sign of life every second or so; its silence means something."""
    trusted_for: int = 10 * _MINUTE_NS
    """Nanoseconds for which its last word holds without other evidence, where it promises no sign of life."""
    has_holes: bool = False
    """Some turns end without a word of it: an interrupt that fires no hook."""
    reads_stream: bool = False
    """It is read from the pane's output, so a gap there may hide what it said."""
    blind_to: tuple[StateName, ...] = ()
    """States that it has no word for: it shows an end as `idle`, and a question as one for permission."""
    blurs_ends: bool = False
    """It tells every turn that ended in the same way, also one that was stopped or failed; the screen shows which."""
    misses_dialogs: bool = False
    """Some dialogs are open without a word of it: it goes on saying work or rest. What the screen shows is believed."""
    is_shared: bool = False
    """Strangers speak in it, too: it is heard only of sessions that the agent has shown elsewhere."""
    standing: SourceStatus = "active"
    """A source from outside is heard only while it is active."""


def build_native_source(
    name: str, rank: int, *, has_holes: bool = False, blind_to: tuple[StateName, ...] = ()
) -> EvidenceSource:
    """A source in which the agent itself speaks."""
    return EvidenceSource(name=name, tier="deterministic", rank=rank, has_holes=has_holes, blind_to=blind_to)


def build_heuristic_source(name: str, rank: int) -> EvidenceSource:
    """A source from which we conclude."""
    return EvidenceSource(name=name, tier="heuristic", rank=rank, trusted_for=_SCREEN_TRUST_NS)


OSC_SOURCE = EvidenceSource(name="osc", tier="deterministic", rank=2, reads_stream=True)
"""OSC 7501, the program status that some agents print."""
PRINTED_SOURCE = EvidenceSource(name="printed", tier="deterministic", rank=5, reads_stream=True)
"""Lines that a program prints for other programs, read only while it has the terminal."""
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
"""For an agent of which nobody declared any."""

"""A Source is where signals come from: how far it is believed, and what it is known not to tell.

A lower rank is believed first; sources of one rank are equals. Official ways stand before home-made ones.
"""

from typing import Literal

from msgspec import Struct

from termvisor.model.agent import StateName, Tier

_MINUTE = 60 * 10**9
_LOOK = 90 * 10**9
"""Three times the longest pause between two looks."""

Standing = Literal["active", "pending", "stale", "revoked"]


class Source(Struct, frozen=True, kw_only=True):
    name: str
    tier: Tier
    rank: int
    beats: bool = False
    """It promises a sign of life every second or so; its silence means something."""
    trusted_for: int = 10 * _MINUTE
    """Nanoseconds for which its last word holds without other evidence, where it promises no sign of life."""
    has_holes: bool = False
    """Some turns end without a word of it: an interrupt that fires no hook."""
    reads_stream: bool = False
    """It is read from the pane's output, so a gap there may hide what it said."""
    blind_to: tuple[StateName, ...] = ()
    """States that it shows as `idle`, because it has no word for them."""
    blurs_ends: bool = False
    """It says `completed` of every turn that ended, also of one that was stopped or failed; the screen shows which."""
    is_shared: bool = False
    """Strangers speak in it, too: it is heard only of sessions that the agent has shown elsewhere."""
    standing: Standing = "active"
    """A source from outside is heard only while it is active."""


def told(name: str, rank: int, *, has_holes: bool = False, blind_to: tuple[StateName, ...] = ()) -> Source:
    """A source in which the agent itself speaks."""
    return Source(name=name, tier="deterministic", rank=rank, has_holes=has_holes, blind_to=blind_to)


def guessed(name: str, rank: int) -> Source:
    """A source from which we conclude."""
    return Source(name=name, tier="heuristic", rank=rank, trusted_for=_LOOK)


OSC = Source(name="osc", tier="deterministic", rank=2, reads_stream=True)
"""OSC 7501, the program status that some agents print."""
LOOKS = (guessed("screen", 10), guessed("title", 11), guessed("process", 12))

SOURCES: dict[str, tuple[Source, ...]] = {
    "claude_code": (
        told("registry", 2, blind_to=("error", "completed")),
        OSC,
        told("hook", 3, has_holes=True),
        Source(name="transcript", tier="deterministic", rank=4, has_holes=True, is_shared=True),
        *LOOKS,
    ),
    "codex": (
        told("app_server", 1, blind_to=("completed",)),
        OSC,
        told("hook", 3, has_holes=True),
        told("notify", 3, has_holes=True),
        told("rollout", 4, has_holes=True),
        *LOOKS,
    ),
    "gemini": (
        Source(name="hook", tier="deterministic", rank=1, has_holes=True, blurs_ends=True),
        *LOOKS,
        guessed("notification", 13),
    ),
    "opencode": (told("hook", 1), *LOOKS),
    "copilot": (told("session_file", 1), told("hook", 2, has_holes=True), *LOOKS),
    "cursor": (told("hook", 1, has_holes=True), *LOOKS),
    "": (
        told("server", 1),
        told("plugin", 1),
        told("hook", 1, has_holes=True),
        told("session_file", 4, has_holes=True),
        *LOOKS,
    ),
}
"""The sources of each agent; those under the empty name are for every agent that has no entry."""

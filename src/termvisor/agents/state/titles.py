"""Select and sanitize the title of an agent's session.

Titles come from programs, so they are reduced to one line without control characters, bidi overrides and spinners.
"""

import re
import unicodedata

from msgspec import Struct

from termvisor.agents.state.source_slots import SourceSlots
from termvisor.agents.state.thresholds import Thresholds

MAX_TITLE_CHARS = 80
_LEADING_GLYPHS = re.compile(r"^(?:[^\w\s(\[/~.#@'\"“«-]+\s+)+")
"""Spinners and status glyphs before the text."""


class TitleCandidates(Struct, frozen=True, kw_only=True):
    """The possible titles of a pane, best first."""

    own_name: str = ""
    past_title: str = ""
    """The last title of the pane while the agent was running."""
    live_title: str = ""
    path: str = ""


def select_title(title_candidates: TitleCandidates, fallback: str) -> str:
    """Return the first non-empty candidate, sanitized, or else the fallback."""
    candidates = (
        title_candidates.own_name,
        title_candidates.past_title,
        title_candidates.live_title,
        title_candidates.path,
    )
    return next((text for one in candidates if (text := sanitize_title(one))), fallback)


def find_session_titles(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> tuple[str, str]:
    """Return the agent's own name for its session, and the last title of its pane while it was running."""
    ranked = sorted(
        (
            (source, slot.title)
            for name, slot in source_slots.slots.items()
            if (source := thresholds.find_source(agent, name))
        ),
        key=lambda one: (one[0].rank, one[0].name),
    )
    own = next((text for source, text in ranked if text and source.tier == "deterministic"), "")
    past = next((text for source, text in ranked if text and source.tier == "heuristic"), "")
    return own, past


def sanitize_title(text: str) -> str:
    printable = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text)
    words = _LEADING_GLYPHS.sub("", " ".join(printable.split()) + " ").strip()
    return words if len(words) <= MAX_TITLE_CHARS else words[: MAX_TITLE_CHARS - 1].rstrip() + "…"

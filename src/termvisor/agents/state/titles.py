"""Select and sanitize the title of an agent's session.

Titles come from programs, so they are reduced to one line without control characters, bidi overrides and spinners.
"""

import re
import unicodedata
from collections.abc import Iterable

from termvisor.agents.state.source_slots import SourceSlots
from termvisor.agents.state.thresholds import Thresholds

MAX_TITLE_CHARS = 80
# Spinners and status glyphs before the text.
_LEADING_GLYPHS = re.compile(r"^(?:[^\w\s(\[/~.#@'\"“«-]+\s+)+")


def select_title(candidates: Iterable[str], fallback: str) -> str:
    """Return the first candidate that is not empty, sanitized, or else the fallback."""
    return next((text for one in candidates if (text := sanitize_title(one))), fallback)


def find_session_titles(source_slots: SourceSlots, agent: str, thresholds: Thresholds) -> tuple[str, str]:
    """Return the agent's own name for its session, and the last title of its pane while it was running."""
    found = [(thresholds.find_source(agent, name), slot.title) for name, slot in source_slots.slots.items()]
    ranked = sorted((source.rank, source.name, source.tier, text) for source, text in found if source and text)
    own = next((text for _, _, tier, text in ranked if tier == "deterministic"), "")
    past = next((text for _, _, tier, text in ranked if tier == "heuristic"), "")
    return own, past


def sanitize_title(text: str) -> str:
    printable = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text)
    words = _LEADING_GLYPHS.sub("", " ".join(printable.split()) + " ").strip()
    return words if len(words) <= MAX_TITLE_CHARS else words[: MAX_TITLE_CHARS - 1].rstrip() + "…"

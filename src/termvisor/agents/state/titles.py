"""What an agent is called.

Titles come from programs, so they are cleaned: no control characters, no reversed text, no spinners, one line.
"""

import re
import unicodedata

from msgspec import Struct

from termvisor.agents.state.source_slots import Ledger
from termvisor.agents.state.thresholds import Measure

LONGEST = 80
_LEADING = re.compile(r"^(?:[^\w\s(\[/~.#@'\"“«-]+\s+)+")
"""Spinners and status glyphs before the words."""


class Known(Struct, frozen=True, kw_only=True):
    """What a pane could be called after, the best first."""

    own_name: str = ""
    past_title: str = ""
    """The last title that was seen while the agent was bound."""
    live_title: str = ""
    path: str = ""


def title(known: Known, fallback: str) -> str:
    """The agent's own name for its session, its last title, the pane's title, the folder, or else the fallback."""
    candidates = (known.own_name, known.past_title, known.live_title, known.path)
    return next((text for one in candidates if (text := clean(one))), fallback)


def known_titles(ledger: Ledger, agent: str, measure: Measure) -> tuple[str, str]:
    """The agent's own name for its session, and the last title of its pane while it was bound."""
    ranked = sorted(
        ((source, slot.title) for name, slot in ledger.slots.items() if (source := measure.source(agent, name))),
        key=lambda one: (one[0].rank, one[0].name),
    )
    own = next((text for source, text in ranked if text and source.tier == "deterministic"), "")
    past = next((text for source, text in ranked if text and source.tier == "heuristic"), "")
    return own, past


def clean(text: str) -> str:
    printable = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text)
    words = _LEADING.sub("", " ".join(printable.split()) + " ").strip()
    return words if len(words) <= LONGEST else words[: LONGEST - 1].rstrip() + "…"

"""What Cursor's screens are documented to say. Few rules, and none is trusted much: no real screen was seen yet."""

from termvisor.agents.base import Seen
from termvisor.agents.sight import Parts, Rule, Sight, shown_rows
from termvisor.model.screen import Screen

_FOOT = 12
RULES = (
    Rule(
        name="approval_asked",
        state="waiting_approval",
        part="foot",
        pattern=r"^\W*(?P<question>(?:Run this command|Allow this|Write to this file|Delete this file)\b.*\?)",
        also=(("foot", r"\((?:y|enter)\)"), ("foot", r"\b(?:Reject|Skip|No)\b.*\((?:esc|n|p)\b")),
        confidence=0.5,
    ),
    Rule(name="working", state="running", part="foot", pattern=r"\bctrl\+c to stop\b", confidence=0.5),
    Rule(
        name="at_rest",
        state="idle",
        part="foot",
        pattern=r"^\W*→ (?:Plan, search, build|Add a follow-up)",
        confidence=0.4,
    ),
)
SIGHT = Sight(RULES)


def parts_of(screen: Screen) -> Parts:
    return {"foot": [row for row in shown_rows(screen.rows) if row][-_FOOT:]}


def look(screen: Screen) -> Seen:
    return SIGHT.look(parts_of(screen), screen.at)

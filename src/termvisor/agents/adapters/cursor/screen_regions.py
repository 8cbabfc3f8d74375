"""The one part of Cursor's screen that is documented: its foot, the last rows that are not empty."""

from termvisor.agents.adapters.screen_classifier import Parts, shown_rows
from termvisor.model.terminal.screen import Screen

_FOOT = 12


def parts_of(screen: Screen) -> Parts:
    return {"foot": [row for row in shown_rows(screen.rows) if row][-_FOOT:]}

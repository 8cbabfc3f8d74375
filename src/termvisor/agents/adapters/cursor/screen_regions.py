"""Split Cursor screens: the only documented region is the foot, the last rows that are not blank."""

from termvisor.agents.adapters.screen_classifier import ScreenRegions, trim_rows
from termvisor.model.terminal.screen import Screen

_MAX_FOOT_ROWS = 12


def split_regions(screen: Screen) -> ScreenRegions:
    return {"foot": [row for row in trim_rows(screen.rows) if row][-_MAX_FOOT_ROWS:]}

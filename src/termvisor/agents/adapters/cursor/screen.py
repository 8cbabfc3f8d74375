"""Classify Cursor screens with a few rules of low confidence, written from documentation instead of recordings.

The only documented region is the foot, which consists of the last non-blank rows.
"""

from termvisor.agents.adapters.screen_classifier import ScreenClassifier, trim_rows
from termvisor.agents.adapters.screen_structure import ScreenRegions
from termvisor.model.terminal.screen import Screen

_MAX_FOOT_ROWS = 12


def split_regions(screen: Screen) -> ScreenRegions:
    return {"foot": [row for row in trim_rows(screen.rows) if row][-_MAX_FOOT_ROWS:]}


SCREEN_CLASSIFIER = ScreenClassifier("cursor", split_regions)
classify_screen = SCREEN_CLASSIFIER.classify_screen

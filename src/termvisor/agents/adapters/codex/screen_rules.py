"""Classify Codex screens.

Streamed text has no mark of its own: it means work until the row that ends a turn appears, and only changes of the pane
prove it (see `termvisor.agents.state.hysteresis`).
"""

from termvisor.agents.adapters.codex.screen_regions import split_regions
from termvisor.agents.adapters.error_classifier import find_local_reset_time
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("codex", split_regions, reset_time_finder=find_local_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen

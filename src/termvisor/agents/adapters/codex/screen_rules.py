"""What Codex' screens say.

Text that is streamed has no sign of its own: it is work as long as the line is missing with which a turn ends, and
only the pane's moving proves it (see `termvisor.agents.state.hysteresis`).
"""

from termvisor.agents.adapters.codex.screen_regions import split_regions
from termvisor.agents.adapters.error_classifier import find_local_reset_time
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("codex", split_regions, reset_time_finder=find_local_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen

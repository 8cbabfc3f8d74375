"""What Cursor's screens are documented to say. Few rules, and none is trusted much: no real screen was seen yet."""

from termvisor.agents.adapters.cursor.screen_regions import split_regions
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("cursor", split_regions)
classify_screen = SCREEN_CLASSIFIER.classify_screen

"""Classify opencode screens."""

from termvisor.agents.adapters.opencode.screen_regions import split_regions
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("opencode", split_regions)
classify_screen = SCREEN_CLASSIFIER.classify_screen

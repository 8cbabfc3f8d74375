"""Classify Copilot screens."""

from termvisor.agents.adapters.copilot.screen_regions import split_regions
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("copilot", split_regions)
classify_screen = SCREEN_CLASSIFIER.classify_screen

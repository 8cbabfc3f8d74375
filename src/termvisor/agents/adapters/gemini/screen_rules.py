"""Classify Gemini screens."""

from termvisor.agents.adapters.error_classifier import find_any_reset_time
from termvisor.agents.adapters.gemini.screen_regions import split_regions
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("gemini", split_regions, reset_time_finder=find_any_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen

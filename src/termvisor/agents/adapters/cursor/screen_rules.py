"""Classify Cursor screens by few rules of low confidence, written from documentation and not from recordings."""

from termvisor.agents.adapters.cursor.screen_regions import split_regions
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("cursor", split_regions)
classify_screen = SCREEN_CLASSIFIER.classify_screen

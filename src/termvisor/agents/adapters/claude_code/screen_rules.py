"""Classify Claude Code screens.

A dialog counts only if it replaces the composer and nothing is below it, so that quoted text, a transcript in a pager,
or the last screen of an exited agent above a shell prompt is not mistaken for one.
"""

from termvisor.agents.adapters.claude_code.screen_regions import split_regions
from termvisor.agents.adapters.error_classifier import find_zoned_reset_time
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("claude_code", split_regions, reset_time_finder=find_zoned_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen

"""What Claude Code's screens say.

A dialog is believed only where it stands in for the composer and nothing is below it, so the agent's own prose, a
transcript in a pager, or what a dead agent left under a shell's prompt is none.
"""

from termvisor.agents.adapters.claude_code.screen_regions import split_regions
from termvisor.agents.adapters.error_classifier import find_zoned_reset_time
from termvisor.agents.adapters.screen_classifier import ScreenClassifier

SCREEN_CLASSIFIER = ScreenClassifier("claude_code", split_regions, reset_time_finder=find_zoned_reset_time)
classify_screen = SCREEN_CLASSIFIER.classify_screen

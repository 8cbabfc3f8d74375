"""What Claude Code's screens say.

A dialog is believed only where it stands in for the composer and nothing is below it, so the agent's own prose, a
transcript in a pager, or what a dead agent left under a shell's prompt is none.
"""

from termvisor.agents.adapters.claude_code.screen_regions import parts_of
from termvisor.agents.adapters.error_classifier import ends_in_zone
from termvisor.agents.adapters.screen_classifier import Sight

SIGHT = Sight("claude_code", parts_of, ends_at=ends_in_zone)
look = SIGHT.look

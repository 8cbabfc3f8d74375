"""What Claude Code's screens say.

A dialog is believed only where it stands in for the composer and nothing is below it, so the agent's own prose, a
transcript in a pager, or what a dead agent left under a shell's prompt is none.
"""

from termvisor.agents.claude_code.layout import parts_of
from termvisor.agents.sight import Sight
from termvisor.agents.trouble import ends_in_zone

SIGHT = Sight("claude_code", parts_of, ends_at=ends_in_zone)
look = SIGHT.look

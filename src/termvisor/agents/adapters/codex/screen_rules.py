"""What Codex' screens say.

Text that is streamed has no sign of its own: it is work as long as the line is missing with which a turn ends, and
only the pane's moving proves it (see `termvisor.agents.state.hysteresis`).
"""

from termvisor.agents.adapters.codex.screen_regions import parts_of
from termvisor.agents.adapters.error_classifier import ends_by_own_clock
from termvisor.agents.adapters.screen_classifier import Sight

SIGHT = Sight("codex", parts_of, ends_at=ends_by_own_clock)
look = SIGHT.look

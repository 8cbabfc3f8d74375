"""What Codex' screens say.

Text that is streamed has no sign of its own: it is work as long as the line is missing with which a turn ends, and
only the pane's moving proves it (see `termvisor.state.steady`).
"""

from termvisor.agents.codex.layout import parts_of
from termvisor.agents.sight import Sight
from termvisor.agents.trouble import ends_by_own_clock

SIGHT = Sight("codex", parts_of, ends_at=ends_by_own_clock)
look = SIGHT.look

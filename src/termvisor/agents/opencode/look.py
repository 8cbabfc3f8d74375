"""What opencode's screens say."""

from termvisor.agents.opencode.layout import parts_of
from termvisor.agents.sight import Sight

SIGHT = Sight("opencode", parts_of)
look = SIGHT.look

"""What Copilot's screens say."""

from termvisor.agents.copilot.layout import parts_of
from termvisor.agents.sight import Sight

SIGHT = Sight("copilot", parts_of)
look = SIGHT.look

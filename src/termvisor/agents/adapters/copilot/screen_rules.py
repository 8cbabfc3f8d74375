"""What Copilot's screens say."""

from termvisor.agents.adapters.copilot.screen_regions import parts_of
from termvisor.agents.adapters.screen_classifier import Sight

SIGHT = Sight("copilot", parts_of)
look = SIGHT.look

"""What opencode's screens say."""

from termvisor.agents.adapters.opencode.screen_regions import parts_of
from termvisor.agents.adapters.screen_classifier import Sight

SIGHT = Sight("opencode", parts_of)
look = SIGHT.look

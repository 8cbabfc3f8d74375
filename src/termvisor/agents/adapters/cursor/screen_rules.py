"""What Cursor's screens are documented to say. Few rules, and none is trusted much: no real screen was seen yet."""

from termvisor.agents.adapters.cursor.screen_regions import parts_of
from termvisor.agents.adapters.screen_classifier import Sight

SIGHT = Sight("cursor", parts_of)
look = SIGHT.look

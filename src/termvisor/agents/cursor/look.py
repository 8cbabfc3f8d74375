"""What Cursor's screens are documented to say. Few rules, and none is trusted much: no real screen was seen yet."""

from termvisor.agents.cursor.layout import parts_of
from termvisor.agents.sight import Sight

SIGHT = Sight("cursor", parts_of)
look = SIGHT.look

"""What Gemini's screens say."""

from termvisor.agents.gemini.layout import parts_of
from termvisor.agents.sight import Sight

SIGHT = Sight("gemini", parts_of)
look = SIGHT.look

"""What Gemini's screens say."""

from termvisor.agents.gemini.layout import parts_of
from termvisor.agents.sight import Sight
from termvisor.agents.trouble import ends_told

SIGHT = Sight("gemini", parts_of, ends_at=ends_told)
look = SIGHT.look

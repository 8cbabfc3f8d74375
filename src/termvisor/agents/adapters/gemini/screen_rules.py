"""What Gemini's screens say."""

from termvisor.agents.adapters.error_classifier import ends_told
from termvisor.agents.adapters.gemini.screen_regions import parts_of
from termvisor.agents.adapters.screen_classifier import Sight

SIGHT = Sight("gemini", parts_of, ends_at=ends_told)
look = SIGHT.look

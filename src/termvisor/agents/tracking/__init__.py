"""How evidence becomes what is known of agents:

    processes ─► Recognition ─┐ who is there
    files, hooks, servers ────┤
    marks of the stream ──────┼─► Hearing ─► facts ─► Knowing ─► Store ─► news, events
    looks ────────────────────┘  adapters             one writer: fold, project, one transaction

What comes in is read by adapters (`agents/`), which only answer with values. What goes out was stored before.
"""

from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.agent_discovery import Recognition
from termvisor.agents.tracking.agent_screen_sampler import Gaze
from termvisor.agents.tracking.pane_info import Standing
from termvisor.agents.tracking.printed_json import Printing
from termvisor.agents.tracking.remote_agents import Afar
from termvisor.agents.tracking.signal_reader import Hearing
from termvisor.agents.tracking.tracker import Knowing
from termvisor.agents.tracking.transition import Terms

__all__ = ["Afar", "Circle", "Gaze", "Hearing", "Knowing", "Printing", "Recognition", "Standing", "Terms"]

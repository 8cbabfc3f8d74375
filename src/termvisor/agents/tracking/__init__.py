"""How evidence becomes what is known of agents:

    processes ─► Recognition ─┐ who is there
    files, hooks, servers ────┤
    marks of the stream ──────┼─► Hearing ─► facts ─► Knowing ─► Store ─► news, events
    looks ────────────────────┘  adapters             one writer: fold, project, one transaction

What comes in is read by adapters (`agents/`), which only answer with values. What goes out was stored before.
"""

from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_discovery import AgentDiscovery
from termvisor.agents.tracking.agent_screen_sampler import AgentScreenSampler
from termvisor.agents.tracking.pane_info import PaneInfo
from termvisor.agents.tracking.printed_json import PrintedJsonReader
from termvisor.agents.tracking.remote_agents import RemoteAgentDetector
from termvisor.agents.tracking.signal_reader import SignalReader
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.agents.tracking.transition import TrackingConfig

__all__ = [
    "AdapterRegistry",
    "AgentDiscovery",
    "AgentScreenSampler",
    "AgentTracker",
    "PaneInfo",
    "PrintedJsonReader",
    "RemoteAgentDetector",
    "SignalReader",
    "TrackingConfig",
]

"""Track agents: turn evidence into facts, facts into states, and publish what changed after it is stored.

    processes → AgentDiscovery ───────┐
    files, hooks, servers ┐           ├→ facts → AgentTracker → Store → state changes, events
    marks in the output   ├→ SignalReader
    screens               ┘  (adapters)            the only writer: one transaction per batch

Start with `tracker`; `transition` is the pure part of it.
"""

from termvisor.agents.tracking.adapter_registry import AdapterRegistry
from termvisor.agents.tracking.agent_discovery import AgentDiscovery
from termvisor.agents.tracking.agent_screen_sampler import AgentScreenSampler
from termvisor.agents.tracking.pane_info import PaneInfo
from termvisor.agents.tracking.printed_json import PrintedJsonReader
from termvisor.agents.tracking.remote_agents import RemoteAgentDetector
from termvisor.agents.tracking.signal_reader import SignalReader
from termvisor.agents.tracking.tracker import AgentTracker
from termvisor.agents.tracking.tracking_config import TrackingConfig, build_tracking_config

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
    "build_tracking_config",
]

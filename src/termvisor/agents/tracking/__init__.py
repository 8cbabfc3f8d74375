"""Track agents: turn evidence into facts, facts into states, and publish what changed after it is stored.

    processes → AgentDiscovery ───────┐
    files, hooks, servers ┐           ├→ facts → AgentTracker → Store → state changes, events
    marks in the output   ┴→ SignalReader          the only writer: one transaction per batch
    screens ─→ AgentScreenReader

Start with `tracker`; `transition` is the pure part of it.
"""

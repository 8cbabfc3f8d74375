"""Values that describe agents: processes, signals, sources, states, sessions, accounts."""

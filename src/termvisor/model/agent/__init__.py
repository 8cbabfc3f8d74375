"""Values about agents: processes, signals, sources, states, sessions, accounts."""

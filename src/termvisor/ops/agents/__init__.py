"""Operations on agents: state, sessions, evidence sources and resuming; start with `_pane_agents` and `_agent_row`."""

"""Agent tracking in the daemon: connects `agents` to capture and the store, and monitors agent failures and drift."""

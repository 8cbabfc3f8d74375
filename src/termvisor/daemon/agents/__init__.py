"""Agent tracking in the daemon: connect `agents` to capture and the store, and monitor agent failures and drift."""

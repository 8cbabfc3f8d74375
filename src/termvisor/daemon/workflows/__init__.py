"""Workflows in the daemon: what the engine needs from live panes, the store and the gate, and the workflow service."""

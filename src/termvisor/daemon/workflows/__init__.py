"""Workflows in the daemon: the engine's access to live panes, the store and the gate, and the workflow service."""

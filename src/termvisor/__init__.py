"""Termvisor: record, search and control terminal panes and the AI agents in them."""

__version__ = "0.1.0"

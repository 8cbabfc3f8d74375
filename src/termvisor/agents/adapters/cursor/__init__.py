"""Adapter for Cursor CLI, by Anysphere. `adapter.py` declares it."""

from termvisor.agents.adapters.cursor.adapter import ADAPTER as ADAPTER

"""Adapter for opencode, by SST. `adapter.py` declares it."""

from termvisor.agents.adapters.opencode.adapter import ADAPTER as ADAPTER

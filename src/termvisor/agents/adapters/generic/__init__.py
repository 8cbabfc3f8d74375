"""Adapter for any other program, by the user's rules. `adapter.py` declares it."""

from termvisor.agents.adapters.generic.adapter import ADAPTER as ADAPTER

"""Adapter for any other program, based on the user's rules. `adapter.py` declares it."""

from termvisor.agents.adapters.generic.adapter import ADAPTER as ADAPTER

"""Adapter for GitHub Copilot CLI. `adapter.py` declares it."""

from termvisor.agents.adapters.copilot.adapter import ADAPTER as ADAPTER

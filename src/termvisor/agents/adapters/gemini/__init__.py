"""Adapter for Gemini CLI, by Google. `adapter.py` declares it."""

from termvisor.agents.adapters.gemini.adapter import ADAPTER as ADAPTER

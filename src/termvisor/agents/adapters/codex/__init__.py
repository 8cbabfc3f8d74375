"""Adapter for Codex, by OpenAI. `adapter.py` declares it."""

from termvisor.agents.adapters.codex.adapter import ADAPTER as ADAPTER

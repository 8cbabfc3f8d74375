"""Adapter for Claude Code, by Anthropic. `adapter.py` declares it."""

from termvisor.agents.adapters.claude_code.adapter import ADAPTER as ADAPTER

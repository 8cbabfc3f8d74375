"""Questions to the history."""

from termvisor.search.parser import parse, quote
from termvisor.search.search import search

__all__ = ["parse", "quote", "search"]

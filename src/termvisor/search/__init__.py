"""Questions to the history."""

from termvisor.search.find import search
from termvisor.search.query import parse, quote

__all__ = ["parse", "quote", "search"]

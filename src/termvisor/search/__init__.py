"""Questions to the history."""

from termvisor.search.executor import search
from termvisor.search.parser import parse_query, quote_phrase

__all__ = ["parse_query", "quote_phrase", "search"]

"""Search the stored text of panes: parse a query, find candidates in the index, match lines. Read executor.py first."""

from termvisor.search.executor import search
from termvisor.search.parser import parse_query, quote_phrase

__all__ = ["parse_query", "quote_phrase", "search"]

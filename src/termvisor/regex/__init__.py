"""Match many regular expressions at once with Hyperscan or RE2, with the same results from both.

In: patterns by id. Out: a `PatternMatcher`. Start with `engine.py`; engines are imported with the first compilation.
"""

from termvisor.regex.engine import EngineName, PatternMatcher, compile_patterns, is_cached

__all__ = ["EngineName", "PatternMatcher", "compile_patterns", "is_cached"]

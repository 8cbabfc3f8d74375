"""Match many regular expressions at once with Hyperscan or RE2, with the same results from both.

In: patterns by id. Out: a `PatternMatcher` (see `engine.py`). The engines are imported with the first compilation.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, cast

from termvisor.errors import ConfigError
from termvisor.regex import dialect
from termvisor.regex.engine import PatternMatcher, find_ids_by_line

EngineName = Literal["auto", "hyperscan", "re2"]
__all__ = ["EngineName", "PatternMatcher", "compile_patterns", "is_cached"]

_MatcherFactory = Callable[[Mapping[str, str]], PatternMatcher]
_MATCHER_CLASSES = {"hyperscan": "HyperscanMatcher", "re2": "Re2Matcher"}


def compile_patterns(
    patterns: Mapping[str, str], engine: EngineName = "auto", *, cache_folder: str | None = None
) -> PatternMatcher:
    """Return one matcher for all patterns, by id. Raises ConfigError with the id of a pattern that is not supported.

    ``cache_folder`` is a private folder for compiled databases.
    """
    # Patterns in the cache were checked before they were compiled.
    if not (cache_folder and find_spec("hyperscan") and is_cached(patterns, cache_folder)):
        _check_patterns(patterns)
    engines = [engine] if engine != "auto" else [name for name in _MATCHER_CLASSES if find_spec(name)]
    matchers: list[PatternMatcher] = []
    remaining = dict(patterns)
    for name in engines:
        if remaining:
            remaining = _add_matcher(_load_factory(name, cache_folder), remaining, matchers)
    for name, pattern in remaining.items():
        raise _build_pattern_error(
            name, pattern, "look-around, back-references, possessive and very large repeats are not supported"
        )
    return matchers[0] if len(matchers) == 1 else _CombinedMatcher(matchers)


def is_cached(patterns: Mapping[str, str], cache_folder: str) -> bool:
    """Return True if compiling these patterns with this cache is fast."""
    if not find_spec("hyperscan"):
        return True
    engine = import_module("termvisor.regex.hyperscan_engine")
    return os.path.exists(engine.cache_file(list(patterns.values()), cache_folder))


def _check_patterns(patterns: Mapping[str, str]) -> None:
    for name, pattern in patterns.items():
        if problem := dialect.find_pattern_problem(pattern):
            raise _build_pattern_error(name, pattern, problem)


def _load_factory(name: str, cache_folder: str | None) -> _MatcherFactory:
    factory: Any = getattr(import_module(f"termvisor.regex.{name}_engine"), _MATCHER_CLASSES[name])
    if cache_folder and name == "hyperscan":
        return partial(factory, cache=cache_folder)
    return cast(_MatcherFactory, factory)


def _add_matcher(factory: _MatcherFactory, patterns: dict[str, str], matchers: list[PatternMatcher]) -> dict[str, str]:
    """Add a matcher for the patterns that this engine supports; return the others."""
    matcher = _try_compile(factory, patterns)
    rejected: dict[str, str] = {}
    if patterns and matcher is None:
        # Hyperscan rejects patterns that are too large; RE2 takes them.
        rejected = {
            name: pattern for name, pattern in patterns.items() if _try_compile(factory, {name: pattern}) is None
        }
        matcher = _try_compile(factory, {name: pattern for name, pattern in patterns.items() if name not in rejected})
    if matcher is not None:
        matchers.append(matcher)
    return rejected


def _try_compile(factory: _MatcherFactory, patterns: dict[str, str]) -> PatternMatcher | None:
    try:
        return factory(patterns) if patterns else None
    except ValueError:
        # The engine does not say which of the patterns it rejects, so the caller tries each by itself.
        return None


def _build_pattern_error(name: str, pattern: str, reason: str) -> ConfigError:
    return ConfigError(f"pattern {name} is not supported: {pattern!r}: {reason}", details={"id": name})


class _CombinedMatcher:
    """Combine matchers of several engines, because none supports all patterns."""

    def __init__(self, matchers: list[PatternMatcher]):
        self._matchers = matchers

    def find_ids(self, data: bytes) -> frozenset[str]:
        return frozenset().union(*(matcher.find_ids(data) for matcher in self._matchers))

    def find_line_ids(self, data: bytes) -> list[tuple[int, str]]:
        return find_ids_by_line(self.find_ids, data)

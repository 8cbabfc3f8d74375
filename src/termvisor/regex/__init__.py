"""Which pattern ids match this text: Hyperscan or RE2 behind one contract, with the same results.

The engines are loaded when the first patterns are compiled.
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
    """One matcher for all patterns, by id. A pattern that cannot be used is a ConfigError that names its id.

    ``cache`` is a private folder for what takes long to compile.
    """
    if not (cache_folder and find_spec("hyperscan") and is_cached(patterns, cache_folder)):  # what is kept was checked
        _check_patterns(patterns)
    engines = [engine] if engine != "auto" else [name for name in _MATCHER_CLASSES if find_spec(name)]
    matchers: list[PatternMatcher] = []
    left = dict(patterns)
    for name in engines:
        if left:
            left = _add_matcher(_load_factory(name, cache_folder), left, matchers)
    for name, pattern in left.items():
        raise _build_pattern_error(
            name, pattern, "look-around, back-references, possessive and very large repeats are not supported"
        )
    return matchers[0] if len(matchers) == 1 else _CombinedMatcher(matchers)


def is_cached(patterns: Mapping[str, str], cache_folder: str) -> bool:
    """Whether compiling them with this cache costs next to nothing."""
    if not find_spec("hyperscan"):
        return True
    engine = import_module("termvisor.regex.hyperscan_engine")
    return os.path.exists(engine.cache_file(list(patterns.values()), cache_folder))


def _check_patterns(patterns: Mapping[str, str]) -> None:
    for name, pattern in patterns.items():
        if why := dialect.find_pattern_problem(pattern):
            raise _build_pattern_error(name, pattern, why)


def _load_factory(name: str, cache_folder: str | None) -> _MatcherFactory:
    make: Any = getattr(import_module(f"termvisor.regex.{name}_engine"), _MATCHER_CLASSES[name])
    return partial(make, cache=cache_folder) if cache_folder and name == "hyperscan" else cast(_MatcherFactory, make)


def _add_matcher(factory: _MatcherFactory, patterns: dict[str, str], matchers: list[PatternMatcher]) -> dict[str, str]:
    """Add a matcher for what this engine takes; give back what it refuses."""
    matcher = _try_compile(factory, patterns)
    refused: dict[str, str] = {}
    if patterns and matcher is None:
        refused = {
            name: pattern for name, pattern in patterns.items() if _try_compile(factory, {name: pattern}) is None
        }
        matcher = _try_compile(factory, {name: pattern for name, pattern in patterns.items() if name not in refused})
    if matcher is not None:
        matchers.append(matcher)
    return refused


def _try_compile(factory: _MatcherFactory, patterns: dict[str, str]) -> PatternMatcher | None:
    try:
        return factory(patterns) if patterns else None
    except ValueError:
        return None


def _build_pattern_error(name: str, pattern: str, reason: str) -> ConfigError:
    return ConfigError(f"pattern {name} cannot be used: {pattern!r}: {reason}", details={"id": name})


class _CombinedMatcher:
    """Patterns of one table that no single engine takes alone."""

    def __init__(self, matchers: list[PatternMatcher]):
        self._matchers = matchers

    def find_ids(self, data: bytes) -> frozenset[str]:
        return frozenset().union(*(matcher.find_ids(data) for matcher in self._matchers))

    def find_line_ids(self, data: bytes) -> list[tuple[int, str]]:
        return find_ids_by_line(self.find_ids, data)

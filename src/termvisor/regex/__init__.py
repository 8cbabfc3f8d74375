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
from termvisor.regex.engine import Matcher, by_line

Engine = Literal["auto", "hyperscan", "re2"]
__all__ = ["Engine", "Matcher", "compile_patterns", "is_cached"]

_Make = Callable[[Mapping[str, str]], Matcher]
_ENGINES = {"hyperscan": "HyperscanMatcher", "re2": "Re2Matcher"}


def compile_patterns(patterns: Mapping[str, str], engine: Engine = "auto", *, cache: str | None = None) -> Matcher:
    """One matcher for all patterns, by id. A pattern that cannot be used is a ConfigError that names its id.

    ``cache`` is a private folder for what takes long to compile.
    """
    if not (cache and find_spec("hyperscan") and is_cached(patterns, cache)):  # what is kept was checked
        _check(patterns)
    engines = [engine] if engine != "auto" else [name for name in _ENGINES if find_spec(name)]
    matchers: list[Matcher] = []
    left = dict(patterns)
    for name in engines:
        if left:
            left = _take(_load(name, cache), left, matchers)
    for name, pattern in left.items():
        raise _refuse(
            name, pattern, "look-around, back-references, possessive and very large repeats are not supported"
        )
    return matchers[0] if len(matchers) == 1 else _Union(matchers)


def is_cached(patterns: Mapping[str, str], cache: str) -> bool:
    """Whether compiling them with this cache costs next to nothing."""
    if not find_spec("hyperscan"):
        return True
    engine = import_module("termvisor.regex.hyperscan_engine")
    return os.path.exists(engine.cache_file(list(patterns.values()), cache))


def _check(patterns: Mapping[str, str]) -> None:
    for name, pattern in patterns.items():
        if why := dialect.check(pattern):
            raise _refuse(name, pattern, why)


def _load(name: str, cache: str | None) -> _Make:
    make: Any = getattr(import_module(f"termvisor.regex.{name}_engine"), _ENGINES[name])
    return partial(make, cache=cache) if cache and name == "hyperscan" else cast(_Make, make)


def _take(make: _Make, patterns: dict[str, str], matchers: list[Matcher]) -> dict[str, str]:
    """Add a matcher for what this engine takes; give back what it refuses."""
    matcher = _attempt(make, patterns)
    refused: dict[str, str] = {}
    if patterns and matcher is None:
        refused = {name: pattern for name, pattern in patterns.items() if _attempt(make, {name: pattern}) is None}
        matcher = _attempt(make, {name: pattern for name, pattern in patterns.items() if name not in refused})
    if matcher is not None:
        matchers.append(matcher)
    return refused


def _attempt(make: _Make, patterns: dict[str, str]) -> Matcher | None:
    try:
        return make(patterns) if patterns else None
    except ValueError:
        return None


def _refuse(name: str, pattern: str, why: str) -> ConfigError:
    return ConfigError(f"pattern {name} cannot be used: {pattern!r}: {why}", details={"id": name})


class _Union:
    """Patterns of one table that no single engine takes alone."""

    def __init__(self, matchers: list[Matcher]):
        self._matchers = matchers

    def ids(self, data: bytes) -> frozenset[str]:
        return frozenset().union(*(matcher.ids(data) for matcher in self._matchers))

    def lines(self, data: bytes) -> list[tuple[int, str]]:
        return by_line(self.ids, data)

"""Compile many patterns into one matcher with Hyperscan or RE2, with the same results from both.

Patterns are Python regular expressions without look-around and back-references. ``^`` and ``$`` match at every line,
``.`` does not match a newline, ``\\w \\d \\s \\b`` are ASCII only. Text is UTF-8; invalid bytes count as U+FFFD.
Engines return only ids. Spans and captures are found with ``re``, on the few lines that match.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Protocol, cast

from termvisor.errors import ConfigError
from termvisor.regex import dialect

EngineName = Literal["auto", "hyperscan", "re2"]
_MAX_LINES_TO_SPLIT = 4
_MATCHER_CLASSES = {"hyperscan": "HyperscanMatcher", "re2": "Re2Matcher"}


class PatternMatcher(Protocol):
    """Compiled patterns. Safe for use by several threads at once."""

    def find_ids(self, data: bytes) -> frozenset[str]:
        """Return the ids of the patterns that match anywhere in the text."""

    def find_line_ids(self, data: bytes) -> list[tuple[int, str]]:
        """Return the patterns that match each line taken separately, as sorted pairs (line index, id)."""
        return find_ids_by_line(self.find_ids, data)


_MatcherFactory = Callable[[Mapping[str, str]], PatternMatcher]


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


class _CombinedMatcher(PatternMatcher):
    """Combine matchers of several engines, because none supports all patterns."""

    def __init__(self, matchers: list[PatternMatcher]):
        self._matchers = matchers

    def find_ids(self, data: bytes) -> frozenset[str]:
        return frozenset().union(*(matcher.find_ids(data) for matcher in self._matchers))


def find_ids_by_line(find_ids: Callable[[bytes], frozenset[str]], data: bytes) -> list[tuple[int, str]]:
    """Return the matches of each line, found by bisecting blocks that match, because most text matches nothing."""
    if not find_ids(data):
        return []
    lines = data.split(b"\n")
    matches: list[tuple[int, str]] = []
    ranges = _split_range(0, len(lines))
    while ranges:
        start, end = ranges.pop()
        ids = find_ids(b"\n".join(lines[start:end]))
        if ids and end - start == 1:
            matches += [(start, name) for name in ids]
        elif ids:
            ranges += _split_range(start, end)
    return sorted(matches)


def _split_range(start: int, end: int) -> list[tuple[int, int]]:
    """Halve a range; a short one is split into its lines, which costs no more and less if several of them match."""
    if end - start <= _MAX_LINES_TO_SPLIT:
        return [(line, line + 1) for line in range(start, end)]
    middle = (start + end) // 2
    return [(start, middle), (middle, end)]


def ensure_utf8(data: bytes) -> bytes:
    """Return the data with invalid UTF-8 replaced, because on it both engines return wrong results or crash."""
    # Most output is ASCII, and this check is much cheaper than decoding.
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace").encode()
    return data

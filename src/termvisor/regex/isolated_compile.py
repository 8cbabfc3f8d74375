"""Compile and test patterns with Hyperscan in a worker process, because some patterns crash it.

Invariant: every database in the cache has scanned all test texts without a crash.
"""

import os
import signal
from collections.abc import Iterable, Iterator

from msgspec import Struct

from termvisor.regex.engine import PatternMatcher

SINGLE_CPU_LIMIT_S, COMBINED_CPU_LIMIT_S = 10.0, 120.0
"""CPU time limits for one pattern and for all together. Unlike elapsed time, CPU time does not depend on the load."""
_TEXT_LENGTHS = (7, 64, 512, 4097, 20_000)
_TEXT_ALPHABET = "eeo  \t01129..::--/_xxZZA[](){}'\"$%é€│─✻\x07"


class IsolatedCompileRequest(Struct, frozen=True, kw_only=True):
    """The patterns to test: each separately or, with ``keep_in``, as one database that is cached in that folder."""

    patterns: dict[str, str]
    texts: dict[str, tuple[str, ...]] = {}
    """Example texts by id, matching and not matching."""
    keep_in: str = ""


class TriedPattern(Struct, frozen=True):
    """A pattern about to be tried or, with a ``reason``, rejected. The combination of all patterns is named ``-``."""

    id: str
    reason: str = ""


def try_patterns(request: IsolatedCompileRequest) -> Iterator[TriedPattern]:
    """Compile and test the patterns. Runs in a worker process; if it crashes, its last value names the pattern."""
    if not request.keep_in:
        yield from compile_each(request)
    elif reason := compile_together(request):
        yield TriedPattern("-", reason)


def compile_each(request: IsolatedCompileRequest) -> Iterator[TriedPattern]:
    """Compile and test each pattern separately."""
    from termvisor.regex.hyperscan_engine import HyperscanMatcher  # only the worker loads the engine

    for name, pattern in request.patterns.items():
        yield TriedPattern(name)
        _limit_cpu_time(SINGLE_CPU_LIMIT_S)
        try:
            _scan_texts(HyperscanMatcher({name: pattern}), generate_texts(request.texts.get(name, ()), [pattern]))
        except ValueError as error:
            yield TriedPattern(name, str(error))


def compile_together(request: IsolatedCompileRequest) -> str:
    """Compile all patterns into one database, test it and cache it; return why it was rejected, or ""."""
    from tempfile import TemporaryDirectory

    from termvisor.regex.hyperscan_engine import HyperscanMatcher, cache_file, remove_unused_cache_files

    _limit_cpu_time(COMBINED_CPU_LIMIT_S)
    patterns = list(request.patterns.values())
    # In the cache folder, so that the finished file can be renamed into it.
    with TemporaryDirectory(dir=request.keep_in) as folder:
        try:
            HyperscanMatcher(request.patterns, folder)
        except ValueError as error:
            return str(error)
        # Load it from the file, as the daemon will.
        matcher = HyperscanMatcher(request.patterns, folder)
        example_texts = (text for texts in request.texts.values() for text in texts)
        _scan_texts(matcher, generate_texts(example_texts, ["".join(patterns)]))
        os.replace(cache_file(patterns, folder), cached := cache_file(patterns, request.keep_in))
    remove_unused_cache_files(cached)
    _limit_cpu_time(0)
    return ""


def compile_in_process(trial: IsolatedCompileRequest) -> str:
    """Compile built-in patterns in this process, which may crash; return why they were not stored, or "".

    The first start of a daemon waits for this.
    """
    error = compile_together(trial)
    return f"Hyperscan reports: {error}" if error else ""


def generate_texts(example_texts: Iterable[str], patterns: Iterable[str]) -> Iterator[str]:
    """Yield test texts: the examples, as long lines and as many lines, then random text from common characters and
    from those in the patterns, because an automaton advances only on characters that occur in its patterns.
    """
    from random import Random  # loads hashlib and thereby OpenSSL, which the daemon avoids

    examples = [text for text in example_texts if text]
    for text in examples:
        yield from (text, text * (9000 // len(text) + 1))
    if examples:
        yield "\n".join(examples * (70_000 // sum(map(len, examples)) + 1))
    random = Random(1)  # noqa: S311 - a fixed seed makes the result reproducible
    for characters in (_TEXT_ALPHABET, *patterns):
        for length in _TEXT_LENGTHS:
            yield "".join(random.choices(f"aaab 1\n{characters}", k=length))
            yield from (characters[-1] * length, "a" * length)


def _scan_texts(matcher: PatternMatcher, texts: Iterable[str]) -> None:
    for text in texts:
        matcher.find_ids(text.encode(errors="replace"))


def _limit_cpu_time(seconds: float) -> None:
    # SIGPROF has no handler, so it ends the process even during a scan, while no Python code runs.
    signal.setitimer(signal.ITIMER_PROF, seconds)
